// Registrar: keeps this broker's entry at the name servers.
#pragma once

#include "NameServer.h"
#include "RegistrationConfig.h"

#include "patchbay/plugin/Plugin.h"
#include "patchbay/service/Registration.h"
#include "patchbay/service/TopicConfigs.h"

#include <condition_variable>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace patchbay::plugins::registration {

/// Tells every name server everything at the start and in every period, and changes of topics as they come; each server has
/// one request at a time, so that none waits for another. Counted, because answers may still be on their way when the plugin
/// stops; after close() they have no effect. Any thread; the work is done on the control executor.
/// A server that fails is tried again soon, then every five seconds; each change of its state is one line in the log.
/// Once leaving has begun, nothing registers any more.
class Registrar final : public RefCounted, public service::Registration, private service::TopicListener {
public:
    Registrar(plugin::PluginContext& context, plugin::ServiceRef<service::TopicConfigs> topics, const RegistrationConfig& config);

    void start();
    void reconfigure(const RegistrationConfig& config);

    void registerSoon() noexcept override;
    /// leave() and awaitLeft(); again without effect.
    void unregister() noexcept override;

    /// Begins to unregister everywhere. False when that has begun before.
    bool leave();
    /// Waits a bounded time for the name servers' answers to that.
    void awaitLeft();

    /// Ends everything; waits for callbacks that run right now.
    void close() noexcept;

private:
    class Running;  // an entry of a task or callback, refused after close()

    void topicChanged(std::string_view topic, const protocol::TopicConfig* config) noexcept override;

    void schedulePeriod();
    void onPeriod();
    void postWork();
    void work();
    void proceed(NameServer& server);
    void tell(NameServer& server, NameServer::Work work);
    void query(NameServer& server);
    void answered(NameServer& server, const Result<protocol::RemotingCommand>& answer);
    void queryAnswered(NameServer& server, const Result<protocol::RemotingCommand>& answer);
    void succeeded(NameServer& server, const protocol::RemotingCommand& answer);
    void failed(NameServer& server, const std::string& reason);
    /// Asks a name server whether it can connect to what clients are told; Apache's do not say.
    void askWhetherReached(NameServer& server);
    void reachAnswered(NameServer& server, const Result<protocol::RemotingCommand>& answer);
    void sendLeave(NameServer& server);
    void leaveAnswered(NameServer& server, const Result<protocol::RemotingCommand>& answer);
    void applyOrderConfig(const NameServer& server, std::string_view body);
    [[nodiscard]] protocol::RemotingCommand registration(protocol::TopicConfigTable topics, const protocol::DataVersion& version,
                                                         bool compressed) const;
    void send(NameServer& server, protocol::RemotingCommand command, std::chrono::milliseconds timeout,
              void (Registrar::*done)(NameServer&, const Result<protocol::RemotingCommand>&));

    plugin::PluginContext& context_;
    const std::string address_;  // of this broker
    plugin::ServiceRef<service::TopicConfigs> topics_;  // until close()

    std::mutex mutex_;
    std::condition_variable changed_;
    // Guarded by mutex_; the number of servers and their addresses never change.
    std::vector<NameServer> servers_;
    RegistrationConfig config_;
    std::int64_t bumps_ = 0;         // added to the counter of every version told
    plugin::TimerId periodTimer_ = 0;
    std::size_t running_ = 0;
    bool workPosted_ = false;
    bool leaving_ = false;
    bool closed_ = false;
};

}  // namespace patchbay::plugins::registration
