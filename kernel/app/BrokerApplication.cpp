#include "app/BrokerApplication.h"

#include "app/StartSummary.h"
#include "config/Advertise.h"
#include "log/PocoErrorBridge.h"
#include "patchbay/base/Nearest.h"
#include "patchbay/base/StoreLock.h"
#include "patchbay/plugin/Administration.h"
#include "timers/MemoryTrim.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>

namespace patchbay::kernel {

namespace {

/// Files beside connections: libraries, logs, segments of the store, and as many of its queues as it keeps open by default.
constexpr std::size_t kDescriptorsReserved = 1024;
constexpr std::string_view kQueueFilesKey = "consumeQueueFilesOpenMax";
constexpr std::chrono::seconds kAdvertisedPatience{5};
/// How long the lifecycle thread sleeps between two looks at what it waits for.
constexpr std::chrono::milliseconds kMoment{1};

std::string hostPort(const std::string& host, std::uint16_t port) {
    return (host.find(':') != std::string::npos ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

}  // namespace

BrokerApplication::BrokerApplication(LaunchOptions options, MonotonicTime startedAt)
    : options_(std::move(options)), startedAt_(startedAt), clock_(systemClock()), files_(systemFiles()) {}

BrokerApplication::~BrokerApplication() {
    // Plugins must go before what they were lent.
    prepared_.host.reset();
    bridgePocoErrors(nullptr);
}

int BrokerApplication::refuse(const Problems& problems, int code) const {
    // Where the log is on standard error an operator sees both; one of them is enough.
    const bool inFile = appLog_ != nullptr && !prepared_.log.file.empty();
    if (log_) log_->flush();
    for (const auto& line : problems.lines()) {
        if (inFile) appLog_->error(line);
        std::fprintf(stderr, "%s\n", line.c_str());
    }
    return code;
}

int BrokerApplication::run() {
    prepared_ = prepare(files_, options_, false);
    auto& problems = prepared_.problems;
    checkDescriptors(problems);
    if (!problems.empty()) return refuse(problems, kExitConfig);
    if (!lockStoreRoot(problems)) return refuse(problems, kExitFailed);
    LifecycleLoop::blockStops();
    if (!openLog(problems)) return refuse(problems, kExitConfig);
    loop_.takeStops(prepared_.settings.stopTimeout, [this](int signal) {
        appLog_->warn("a stop waits for the main thread, which starts or changes plugins; the process ends at the latest after stopTimeout",
                      {{"signal", signal}, {"stopTimeoutMs", prepared_.settings.stopTimeout.count()}});
    });
    logConfiguration();
    if (!bindListeners(problems)) return refuse(problems, kExitFailed);
    describeBroker();
    if (!startPlugins(problems) || !openForClients(problems)) {
        control_->stop();   // first: what runs there may go on to a loop of the server
        server_->stop();
        return refuse(problems, kExitFailed);
    }
    writePidFile();
    announce();
    const int signal = loop_.run([this] { reloadConfiguration(); }, [this] { return prepared_.host->retire(); });
    stop(signal);
    if (!prepared_.host->leftRunning()) return kExitOk;
    // A plugin still runs, and uses what would be destroyed now.
    log_->flush();
    std::_Exit(kExitOk);
}

/// Than there are by default.
std::size_t BrokerApplication::moreQueueFiles() const {
    if (!prepared_.host) return 0;
    for (const auto& instance : prepared_.host->instances()) {
        const auto* const key = instance->values().find(kQueueFilesKey);
        if (key == nullptr) continue;
        const std::int64_t usual = std::strtoll(key->spec.defaultValue.c_str(), nullptr, 10);
        return static_cast<std::size_t>(std::max<std::int64_t>(key->value.integer - usual, 0));
    }
    return 0;
}

bool BrokerApplication::checkDescriptors(Problems& problems) {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return true;
    auto& wanted = prepared_.settings.limits.connectionsMax;
    reserved_ = kDescriptorsReserved + moreQueueFiles();
    const auto needed = static_cast<rlim_t>(wanted + reserved_);
    if (limit.rlim_cur < needed) {
        const auto hard = limit.rlim_max;
        limit.rlim_cur = hard == RLIM_INFINITY ? needed : std::min(hard, needed);
        (void)setrlimit(RLIMIT_NOFILE, &limit);
        (void)getrlimit(RLIMIT_NOFILE, &limit);
    }
    if (limit.rlim_cur >= needed) return true;
    const auto possible = limit.rlim_cur > 2 * reserved_ ? limit.rlim_cur - reserved_ : limit.rlim_cur / 2;
    if (!prepared_.settings.connectionsMaxSet) {
        wanted = possible;
        descriptors_ = limit.rlim_cur;
        return true;
    }
    problems.add(ErrorNumber::DescriptorLimit, "",
                 "serverConnectionsMax " + std::to_string(wanted) + " needs " + std::to_string(needed) + " open files, the limit is " +
                     std::to_string(limit.rlim_cur) + "; it allows " + std::to_string(possible) + " connections");
    return false;
}

/// Before the log, whose file may be the other process's, and before plugins read and fold what lies there. Whichever store runs, and
/// whoever exchanges it: the lock is of the process. A name server alone shares nothing with a broker's directory.
bool BrokerApplication::lockStoreRoot(Problems& problems) {
    if (!prepared_.settings.hasBroker) return true;
    auto locked = lockStore(files_, prepared_.settings.storeRoot);
    if (!locked) {
        const bool busy = locked.error().code() == StatusCode::Busy;
        problems.add(busy ? ErrorNumber::DirectoryInUse : ErrorNumber::StartFailed, "", locked.error().message());
        return false;
    }
    rootLock_ = std::move(*locked);
    return true;
}

bool BrokerApplication::openLog(Problems& problems) {
    auto opened = LogSystem::open(prepared_.log, clock_);
    if (!opened) {
        problems.add(ErrorNumber::LogSettings, "", opened.error().message());
        return false;
    }
    log_ = std::move(*opened);
    appLog_ = &log_->logger("kernel.app");
    bridgePocoErrors(&log_->logger("kernel.poco"));
    return true;
}

void BrokerApplication::logConfiguration() {
    appLog_->info("starting", {{"version", PATCHBAY_VERSION}, {"config", prepared_.sources.mainPath()}, {"pid", getpid()},
                               {"store", prepared_.settings.storeRoot}, {"connectionsMax", prepared_.settings.limits.connectionsMax}});
    for (const auto& name : prepared_.host->notChosen()) appLog_->info("another provider was chosen; not loaded", {{"plugin", name}});
    for (const auto& note : prepared_.host->notes()) appLog_->warn(note);
    for (const auto& note : prepared_.notes) appLog_->warn(note);
    if (descriptors_ > 0) {
        appLog_->warn("the limit of open files allows fewer connections than serverConnectionsMax says by default",
                      {{"openFiles", descriptors_}, {"connections", prepared_.settings.limits.connectionsMax},
                       {"default", ServerLimits().connectionsMax}, {"openFilesNeeded", ServerLimits().connectionsMax + reserved_}});
    }
    std::string names;
    for (const auto& key : prepared_.unused.plain) names += (names.empty() ? "" : ",") + key;
    if (!names.empty()) appLog_->info("keys of RocketMQ that have no effect here", {{"keys", names}});
    for (const auto& path : prepared_.unused.paths) {
        appLog_->warn("a path that has no effect here; everything is kept under storePathRootDir",
                      {{"key", path.key}, {"value", path.value}, {"where", path.where}});
    }
    for (const auto& assignment : prepared_.sources.common()) {
        if (assignment.origin != Origin::RunTime) continue;
        appLog_->info("a value that was changed at run time is used", {{"key", assignment.key}, {"where", assignment.where}});
    }
}

bool BrokerApplication::bindListeners(Problems& problems) {
    const auto& settings = prepared_.settings;
    control_ = std::make_unique<ControlExecutor>(clock_, log_->logger("kernel.control"));
    server_ = std::make_unique<Server>(settings.limits, ServerContext{clock_, log_->logger("kernel.net"), metrics_,
                                                                      [this](plugin::Task task) { control_->post(this, std::move(task)); }});
    std::uint16_t adminPort = 0;
    const auto bind = [&](std::string_view name, const std::string& host, std::uint16_t port, std::uint16_t& real) {
        const auto bound = server_->bind({std::string(name), host, port});
        if (!bound) {
            return problems.add(ErrorNumber::ListenFailed, std::string(name), hostPort(host, port) + ": " + bound.error().message());
        }
        real = *bound;
        listening_ += (listening_.empty() ? "" : ", ") + std::string(name) + " " + hostPort(host, real);
    };
    if (settings.hasNamesrv) bind("namesrv", settings.bindAddress, settings.namesrvPort, identity_.namesrvPort);
    if (settings.hasBroker) bind("broker", settings.bindAddress, settings.brokerPort, identity_.brokerPort);
    if (settings.adminPort) bind(plugin::kAdminListener, settings.adminBindAddress, *settings.adminPort, adminPort);
    return problems.empty();
}

void BrokerApplication::describeBroker() {
    const auto& settings = prepared_.settings;
    const auto addresses = machineAddresses();
    const auto advertised = chooseAdvertised(settings.brokerIp1, settings.bindAddress, addresses);
    advertisedWhy_ = advertised.reason;
    auto& me = identity_;
    me.clusterName = settings.clusterName;
    me.brokerName = settings.brokerName;
    me.brokerId = settings.brokerId;
    me.brokerIp = advertised.ip;
    me.permission = settings.permission;
    me.regionId = settings.regionId;
    me.configPath = prepared_.sources.mainPath();
    me.storeRoot = settings.storeRoot;
    me.startedWallMs = clock_.wallMs();
    if (const auto address = SocketAddress::parse(hostPort(me.brokerIp, me.brokerPort))) {
        me.storeHost = *address;
    } else {
        me.storeHost = SocketAddress::v4({127, 0, 0, 1}, me.brokerPort);
    }
    me.namesrvAddr = settings.namesrvAddr;
    if (settings.hasNamesrv) me.namesrvAddr = withOwnNameServer(settings.namesrvAddr, settings.bindAddress, me.namesrvPort, addresses);
    const auto haPort = settings.haPort != 0 ? settings.haPort : static_cast<std::uint16_t>(me.brokerPort + 1);
    me.haServerAddr = hostPort(settings.brokerIp2.empty() ? me.brokerIp : settings.brokerIp2, haPort);
}

bool BrokerApplication::startPlugins(Problems& problems) {
    const auto& settings = prepared_.settings;
    runtime_ = std::make_unique<RuntimeConfigStore>(files_, log_->logger("kernel.config"),
                                                    [this](std::function<Status()> work) { return loop_.call(std::move(work)); });
    runtime_->open({settings.runTimeChangesPath(), settings.configBlackList});
    // Tools learn from it which broker answers at an address, so it is the name that counts, not an empty line.
    auto kernelValues = prepared_.kernelValues;
    auto brokerName = kernelValues.find("brokerName")->value;
    if (brokerName.text.empty()) brokerName.text = settings.brokerName;
    kernelValues.set("brokerName", std::move(brokerName));
    runtime_->addOwner({"kernel", {}, std::move(kernelValues), nullptr});
    operations_ = std::make_unique<Operations>(files_, options_, prepared_, loop_);
    operations_->attach(*server_, *runtime_, *log_, identity_.startedWallMs);
    operations_->offerTo(*prepared_.host);
    runtime_->setPlugins(operations_->pluginOwners());
    surroundings_ = std::make_unique<HostSurroundings>(
        HostSurroundings{clock_, files_, *server_, *control_, *runtime_, metrics_, identity_,
                         [this](const std::string& path) -> plugin::Logger& { return log_->logger(path); }, [this] { loop_.runCalls(kMoment); }, [this](const std::string& name) { operations_->switchOffSoon(name); },
                         settings.pluginStepWarning});
    server_->start();
    control_->schedule(this, MemoryTrim::kInterval, MemoryTrim::kInterval, [trim = std::make_shared<MemoryTrim>()] { trim->look(); });
    control_->start();
    if (!prepared_.host->start(*surroundings_, prepared_.sources, problems)) return false;
    warnOfUnknownExecutors();
    warnOfShortExecutors();
    return true;
}

void BrokerApplication::warnOfShortExecutors() {
    const auto max = prepared_.kernelValues.integer("executorThreadsMax");
    for (const auto& executor : server_->executors().shortages()) {
        // The plugin's own key for it, which is RocketMQ's; the one that names the executor is always there.
        std::string key = "executor." + executor.name + ".threads";
        for (const auto& instance : prepared_.host->instances()) {
            if (instance->name() != executor.name) continue;
            for (const auto& [name, item] : instance->values().items()) {
                if (name.ends_with("ThreadPoolNums") && item.value.integer == executor.wanted) key = name;
            }
        }
        appLog_->warn("an executor has fewer threads than it was to have: executorThreadsMax bounds all of them together",
                      {{"executor", executor.name}, {"key", key}, {"wanted", executor.wanted}, {"threads", executor.given},
                       {"executorThreadsMax", max}});
    }
}

void BrokerApplication::warnOfUnknownExecutors() {
    std::vector<std::string> names;
    for (const auto& executor : server_->executors().stats()) names.push_back(executor.name);
    std::string known;
    for (const auto& name : names) known += (known.empty() ? "" : ",") + name;
    const auto look = [&](const Assignment& assignment) {
        if (!isExecutorKey(assignment.key)) return;
        ExecutorOverrides one;
        if (applyExecutorKey(assignment.key, assignment.value, one) || one.empty()) return;
        const auto& name = one.begin()->first;
        if (std::find(names.begin(), names.end(), name) != names.end()) return;
        const auto near = nearest(name, names);
        appLog_->warn("a key has no effect: no plugin that runs has such an executor",
                      {{"key", assignment.key}, {"where", assignment.where}, {near.empty() ? "known" : "nearest", near.empty() ? known : near}});
    };
    for (const auto& assignment : prepared_.sources.common()) look(assignment);
    for (const auto& instance : prepared_.host->instances()) {
        for (const auto& assignment : instance->file().assignments) look(assignment);
    }
}

bool BrokerApplication::openForClients(Problems& problems) {
    server_->publish(prepared_.host->routes());
    const auto status = server_->listen();
    if (!status) {
        problems.add(ErrorNumber::ListenFailed, "", status.message());
        stop(0);
    }
    operations_->serving(status.isOk());
    return status.isOk();
}

void BrokerApplication::announce() {
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(clock_.now() - startedAt_).count();
    std::string line = "patchbay " PATCHBAY_VERSION " ready in " + std::to_string(ms) + " ms: " + listening_;
    if (prepared_.settings.hasBroker) {
        line += "; " + identity_.brokerName + " advertises " + hostPort(identity_.brokerIp, identity_.brokerPort) + " (" + advertisedWhy_ + ")";
    }
    // Where the log is on standard error an operator sees both; one of them is enough.
    if (!prepared_.log.file.empty()) appLog_->info(line);
    std::printf("%s\n", line.c_str());
    std::fflush(stdout);
    rlimit limit{};
    (void)getrlimit(RLIMIT_NOFILE, &limit);
    const auto executors = static_cast<std::uint32_t>(server_->executors().stats().size());
    for (const auto& text : startSummary({prepared_, identity_, listening_, advertisedWhy_, limit.rlim_cur, executors})) appLog_->info(text);
    if (prepared_.settings.hasBroker) askAdvertisedAddress();
}

/// What a client would do first. Whether clients elsewhere reach the address only they can tell.
void BrokerApplication::askAdvertisedAddress() {
    const auto address = hostPort(identity_.brokerIp, identity_.brokerPort);
    server_->remoting().invoke(address, protocol::RemotingCommand::request(protocol::RequestCode::GetBrokerRuntimeInfo), kAdvertisedPatience,
                               [this, address](Result<protocol::RemotingCommand> answer) {
                                   if (answer) return appLog_->info("the address that clients are told answers, seen from this machine", {{"address", address}});
                                   if (answer.error().code() == StatusCode::Cancelled) return;   // the process ends already
                                   appLog_->warn("the address that clients are told does not answer; set brokerIP1 to one that they reach",
                                                 {{"address", address}, {"error", answer.error().message()}});
                               });
}

void BrokerApplication::reloadConfiguration() {
    log_->reopen();
    appLog_->info("reading the configuration again");
    const auto status = operations_->applyFiles();
    if (status) return;
    std::string_view rest = status.message();
    while (!rest.empty()) {
        const auto end = std::min(rest.find('\n'), rest.size());
        appLog_->error(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    appLog_->error("the configuration stays as it was");
}

void BrokerApplication::stop(int signal) {
    appLog_->info("stopping", {{"signal", signal}, {"connections", server_->connectionCount()}});
    operations_->serving(false);
    loop_.close();
    server_->closeListeners();
    server_->refuse();
    prepared_.host->drain();
    // Draining is a state: a request that was on its way when drain() returned is handed back by the next one.
    const auto deadline = clock_.now() + prepared_.settings.drainTimeout;
    while (!server_->flush(std::chrono::milliseconds(50)) && clock_.now() < deadline) prepared_.host->drain();
    server_->publish(RouteTable::build(server_->listenerNames().size(), {}));
    server_->closeConnections();
    prepared_.host->stop();
    runtime_->clearOwners();
    control_->stop();
    server_->stop();
    if (pidWritten_) (void)files_.remove(prepared_.settings.pidFile);
    const auto up = std::chrono::duration_cast<std::chrono::seconds>(clock_.now() - startedAt_).count();
    appLog_->info("stopped", {{"upSeconds", up}, {"linesDropped", log_->dropped()}});
}

void BrokerApplication::writePidFile() {
    const auto& path = prepared_.settings.pidFile;
    if (path.empty()) return;
    const auto status = files_.replaceAtomically(path, std::to_string(getpid()) + "\n", false);
    pidWritten_ = status.isOk();
    if (!status) appLog_->error("the pid file cannot be written", {{"error", status.message()}});
}

}  // namespace patchbay::kernel
