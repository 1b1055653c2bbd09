// ClientInstance: what the producers and consumers of one client id share.
#pragma once

#include "instance/Heartbeats.h"
#include "instance/Log.h"
#include "instance/Member.h"
#include "patchbay/client/ClientOptions.h"
#include "patchbay/protocol/message/MessageId.h"
#include "remoting/Asker.h"
#include "remoting/Channels.h"
#include "route/NameServers.h"
#include "route/RouteCache.h"
#include "runtime/LoopTimer.h"
#include "runtime/Runtime.h"

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace patchbay::client {

/// Connections, routes, heartbeats and the members that they are for. Held by each of its handles; when the last one lets go it is
/// destroyed on the loop, which fails whatever is under way. Its parts belong to the loop thread except those marked "any thread".
class ClientInstance final : private ChannelListener {
public:
    /// What a handle wants to be: a group that may be there once for each client id. An empty group may be there any number of times.
    struct Seat {
        bool consumer = false;
        std::string group;
        auto operator<=>(const Seat&) const = default;
    };
    using Pointer = std::shared_ptr<ClientInstance>;

    /// One with the same options whose seat is free, or a new one. InvalidArgument for options that cannot be. Any thread but the loop.
    [[nodiscard]] static Result<Pointer> acquire(const ClientOptions& options, const Seat& seat);
    /// For tests: their own runtime and way to connect.
    [[nodiscard]] static Pointer make(const ClientOptions& options, Runtime& runtime, std::unique_ptr<Dialer> dialer);
    /// Any thread.
    void giveBack(const Seat& seat);

    // Any thread.
    [[nodiscard]] Runtime& runtime() noexcept { return runtime_; }
    [[nodiscard]] const ClientOptions& options() const noexcept { return options_; }
    [[nodiscard]] const std::string& clientId() const noexcept { return clientId_; }
    [[nodiscard]] FrameBuilder& frames() noexcept { return frames_; }
    [[nodiscard]] protocol::UniqueIdGenerator& ids() noexcept { return ids_; }
    [[nodiscard]] const Log& log() const noexcept { return log_; }
    /// known() from any thread.
    [[nodiscard]] RouteCache& routes() noexcept { return *routes_; }

    // Loop thread.
    [[nodiscard]] Channels& channels() noexcept { return *channels_; }
    [[nodiscard]] Asker& asker() noexcept { return *asker_; }
    [[nodiscard]] NameServers& nameServers() noexcept { return *nameServers_; }
    void add(Member& member);
    /// Also tells the brokers, as well as that is possible; `done` is called when they have answered or 1 s has passed.
    void remove(Member& member, std::function<void()> done);
    /// Now, to all brokers that are known. `whole`: see Heartbeats.
    void heartbeat(bool whole);
    /// The same; `done` is called once all have answered.
    void heartbeat(std::function<void()> done);
    /// Takes the replies (326) to the requests of this client.
    using ReplyHandler = std::function<bool(const protocol::RemotingCommand&)>;
    void onReply(std::string correlationId, ReplyHandler handler) { replies_[std::move(correlationId)] = std::move(handler); }
    void forgetReply(const std::string& correlationId) { replies_.erase(correlationId); }

private:
    ClientInstance(ClientOptions options, Runtime& runtime);
    ~ClientInstance();
    [[nodiscard]] bool take(const Seat& seat);
    void start(std::unique_ptr<Dialer> dialer);
    [[nodiscard]] bool hasConsumer() const;
    [[nodiscard]] protocol::HeartbeatData heartbeatData() const;
    [[nodiscard]] Member* find(bool consumer, std::string_view group) const;
    void routeChanged(const std::string& topic, const RoutePtr& route);
    void closeUnused();

    void connected(const std::string& address) override;
    void disconnected(const std::string& address, std::string_view why) override;
    void serverRequest(Channel& channel, const protocol::CommandView& request) override;
    void forMember(Channel& channel, const protocol::CommandView& request);
    void reply(Channel& channel, const protocol::CommandView& request);

    const ClientOptions options_;
    Runtime& runtime_;
    const std::string clientId_;
    const Log log_;
    FrameBuilder frames_;
    protocol::UniqueIdGenerator ids_;
    std::mutex mutex_;
    std::set<Seat> seats_;  // under the mutex

    // Loop thread.
    std::unique_ptr<Channels> channels_;
    std::unique_ptr<Asker> asker_;
    std::unique_ptr<NameServers> nameServers_;
    std::unique_ptr<RouteCache> routes_;
    std::unique_ptr<Heartbeats> heartbeats_;
    std::vector<Member*> members_;
    std::map<std::string, ReplyHandler> replies_;
    LoopTimer heartbeatTimer_;
    LoopTimer routeTimer_;
};

}  // namespace patchbay::client
