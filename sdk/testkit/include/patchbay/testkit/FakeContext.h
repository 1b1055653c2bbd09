// FakeContext: a kernel for one test: everything a plugin may ask for, and a way to send requests to its processors.
#pragma once

#include "patchbay/plugin/Plugin.h"
#include "patchbay/testkit/Call.h"
#include "patchbay/testkit/FakeConfig.h"
#include "patchbay/testkit/FakePeer.h"
#include "patchbay/testkit/FakeRuntime.h"
#include "patchbay/testkit/ManualClock.h"

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace patchbay::testkit {

class TestRequest;

/// One binding of a processor, as the plugin asked for it.
struct Binding {
    plugin::Processor* processor = nullptr;
    std::string listener;
    bool loopSafe = false;
    plugin::ExecutorSpec executor;
};

struct AddedInterceptor {
    std::string listener;
    plugin::Phase phase;
    std::int32_t order;
    plugin::Interceptor* interceptor;
};

/// Owned by the test; must outlive the plugins that run on it. There are two lanes: 0 is the loop, 1 the executors; both run on
/// the test's thread, inside call(), pump() and advance(). Only what plugins may call from other threads is thread-safe.
class FakeContext final : public plugin::PluginContext, private plugin::Processors, private plugin::Interceptors {
public:
    static constexpr plugin::Lane kLoopLane = 0;
    static constexpr plugin::Lane kExecutorLane = 1;

    FakeContext();
    /// With files of the test's choice (a faulty or simulated disk).
    explicit FakeContext(FileSystem& files);
    ~FakeContext() override;

    // What plugins see; the fakes behind it are the test's controls.
    [[nodiscard]] FakeServices& services() noexcept override { return services_; }
    [[nodiscard]] plugin::Processors& processors() noexcept override { return *this; }
    [[nodiscard]] plugin::Interceptors& interceptors() noexcept override { return *this; }
    [[nodiscard]] FakeTimers& timers() noexcept override { return timers_; }
    [[nodiscard]] FakeRemoting& remoting() noexcept override { return remoting_; }
    [[nodiscard]] FakeRuntimeConfig& runtimeConfig() noexcept override { return runtimeConfig_; }
    [[nodiscard]] FakeMetrics& metrics() noexcept override { return metrics_; }
    [[nodiscard]] FakeLogger& log() noexcept override { return log_; }
    [[nodiscard]] const ManualClock& clock() const noexcept override { return clock_; }
    [[nodiscard]] FileSystem& files() noexcept override { return files_; }
    [[nodiscard]] const plugin::BrokerIdentity& identity() const noexcept override { return identity_; }
    [[nodiscard]] plugin::Lane laneCount() const noexcept override { return 2; }
    void addPeerListener(plugin::PeerListener& listener) override;
    void removePeerListener(plugin::PeerListener& listener) noexcept override;

    /// A broker named "broker-a" of "DefaultCluster" at 127.0.0.1:10911; change it before init().
    [[nodiscard]] plugin::BrokerIdentity& brokerIdentity() noexcept { return identity_; }
    [[nodiscard]] ManualClock& manualClock() noexcept { return clock_; }
    /// Offers a fake or a real service: context.provide<service::MessageStore>(store).
    template <typename T>
    void provide(T& service) { services_.provide<T>(service); }

    /// Sends a request as a frame: encoded, decoded, processed, end of batch. The answer may come later; see CallResult.
    /// Interceptors are not run: a test calls those of addedInterceptors() itself.
    CallResult call(protocol::RequestCode code, const Fields& fields = {}, std::string_view body = {}, const CallOptions& options = {});
    /// The same with a header structure of the protocol library.
    template <typename Header>
        requires requires(const Header& h, protocol::FieldList& list) { h.write(list); }
    CallResult call(protocol::RequestCode code, const Header& header, std::string_view body = {}, const CallOptions& options = {}) {
        protocol::RemotingCommand command = protocol::RemotingCommand::request(code);
        command.setHeader(header);
        command.body = body;
        return send(std::move(command), options);
    }
    /// Any command, e.g. one with an unknown code.
    CallResult send(protocol::RemotingCommand command, const CallOptions& options = {});
    /// Ends the turn of every lane that had calls of process() since its last end.
    void endBatch();

    /// Lets posted tasks, timers that are due, redispatched and deferred requests run, until nothing is left.
    void pump();
    /// Moves the clock from timer to timer and runs each at its time, in order.
    void advance(std::chrono::milliseconds by);

    /// A new open connection, by default from 127.0.0.1.
    Ref<FakePeer> peer(std::string_view remote = "127.0.0.1:50001", std::string_view listener = "broker");
    /// The client goes away: the peer is closed and listeners are told.
    void disconnect(const Ref<FakePeer>& peer);

    /// The binding of a code, or null.
    [[nodiscard]] const Binding* binding(protocol::RequestCode code, std::string_view listener = "broker") const;
    [[nodiscard]] const std::vector<AddedInterceptor>& addedInterceptors() const noexcept { return interceptors_; }

    /// From now on requests are answered with GO_AWAY instead of reaching a processor, as when the kernel stops.
    void closeRoutes();
    /// Forgets bindings, interceptors, published services and peer listeners, whose plugins are gone, and opens the routes
    /// for the next ones.
    void forgetPlugins();

private:
    friend class TestRequest;
    friend class CallResult;

    Status bind(std::span<const protocol::RequestCode> codes, plugin::Processor& processor, const plugin::BindOptions& options) override;
    Status add(std::string_view listener, plugin::Phase phase, std::int32_t order, plugin::Interceptor& interceptor) override;

    void dispatch(TestRequest* request);
    void enqueue(TestRequest* request);
    bool runOneReturned();
    /// True when the request ends because an exception leaves its processor; dispatch() answers it then.
    bool isThrown(TestRequest& request) noexcept;
    void tellClosed();

    FileSystem& files_;
    ManualClock clock_;
    FakeServices services_;
    FakeTimers timers_{clock_};
    FakeRemoting remoting_{timers_};
    FakeRuntimeConfig runtimeConfig_;
    FakeMetrics metrics_;
    FakeLogger log_;
    plugin::BrokerIdentity identity_;

    std::map<std::pair<std::string, std::int32_t>, Binding, std::less<>> bindings_;
    std::vector<AddedInterceptor> interceptors_;
    std::set<std::pair<plugin::Lane, plugin::Processor*>> turns_;
    std::vector<Ref<FakePeer>> peers_;
    Ref<FakePeer> defaultPeer_;
    std::uint64_t lastPeerId_ = 0;
    std::int32_t lastOpaque_ = 0;
    bool routesClosed_ = false;
    TestRequest* running_ = nullptr;
    TestRequest* thrown_ = nullptr;

    std::mutex mutex_;
    std::vector<plugin::PeerListener*> peerListeners_;
    std::deque<TestRequest*> returned_;  // redispatched or deferred, to be run by pump()
};

}  // namespace patchbay::testkit
