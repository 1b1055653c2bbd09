// BrokerApplication: the process from its first line of log to its last.
#pragma once

#include "app/LifecycleLoop.h"
#include "app/Operations.h"
#include "app/Preparation.h"
#include "config/RuntimeConfigStore.h"
#include "log/LogSystem.h"
#include "metrics/Registry.h"
#include "patchbay/base/Clock.h"
#include "server/Server.h"
#include "timers/ControlExecutor.h"

#include <chrono>
#include <memory>
#include <string>

namespace patchbay::kernel {

/// Exit codes of the executable, as sysexits.h has them.
enum ExitCode : int { kExitOk = 0, kExitFailed = 1, kExitUsage = 64, kExitConfig = 78 };

/// Made and run by main, on its thread, which is the lifecycle thread. Order of a start: configuration and plugins are checked
/// (Preparation), then log, ports, threads, plugins, and at the end the first connection is taken. A stop goes the other way
/// round. Nothing is thrown; every failure is printed with its number.
class BrokerApplication {
public:
    BrokerApplication(LaunchOptions options, MonotonicTime startedAt);
    ~BrokerApplication();
    /// Until a signal ends it.
    int run();

private:
    [[nodiscard]] std::size_t moreQueueFiles() const;
    bool checkDescriptors(Problems& problems);
    bool lockStoreRoot(Problems& problems);
    bool openLog(Problems& problems);
    bool bindListeners(Problems& problems);
    void describeBroker();
    void logConfiguration();
    bool startPlugins(Problems& problems);
    void warnOfUnknownExecutors();
    void warnOfShortExecutors();
    bool openForClients(Problems& problems);
    void announce();
    void askAdvertisedAddress();
    void reloadConfiguration();
    void stop(int signal);
    void writePidFile();
    int refuse(const Problems& problems, int code) const;

    const LaunchOptions options_;
    const MonotonicTime startedAt_;
    const Clock& clock_;
    FileSystem& files_;
    // In the order in which they are made; members go in reverse.
    std::unique_ptr<FileLock> rootLock_;   ///< of storePathRootDir; for stores, and for those who keep files in its config/
    Preparation prepared_;
    std::unique_ptr<LogSystem> log_;
    plugin::Logger* appLog_ = nullptr;
    LifecycleLoop loop_;
    std::unique_ptr<Operations> operations_;
    MetricsRegistry metrics_;
    std::unique_ptr<ControlExecutor> control_;
    std::unique_ptr<RuntimeConfigStore> runtime_;
    std::unique_ptr<Server> server_;
    plugin::BrokerIdentity identity_;
    std::string advertisedWhy_;
    std::string listening_;
    std::unique_ptr<HostSurroundings> surroundings_;
    bool pidWritten_ = false;
    std::size_t reserved_ = 0;      ///< descriptors that are no connections
    std::size_t descriptors_ = 0;   ///< the limit of open files, when it lowered serverConnectionsMax
};

}  // namespace patchbay::kernel
