#include "patchbay/testkit/FakeContext.h"

#include "TestRequest.h"

#include <algorithm>
#include <exception>
#include <gtest/gtest.h>

namespace patchbay::testkit {

FakeContext::FakeContext() : FakeContext(systemFiles()) {}

FakeContext::FakeContext(FileSystem& files) : files_(files) {
    identity_.clusterName = "DefaultCluster";
    identity_.brokerName = "broker-a";
    identity_.brokerIp = "127.0.0.1";
    identity_.brokerPort = 10911;
    identity_.storeHost = SocketAddress::v4({127, 0, 0, 1}, 10911);
    identity_.haServerAddr = "127.0.0.1:10912";
    identity_.regionId = "DefaultRegion";
    identity_.startedWallMs = clock_.wallMs();
}

FakeContext::~FakeContext() {
    closeRoutes();
    pump();
}

void FakeContext::addPeerListener(plugin::PeerListener& listener) {
    const std::lock_guard lock(mutex_);
    peerListeners_.push_back(&listener);
}

void FakeContext::removePeerListener(plugin::PeerListener& listener) noexcept {
    const std::lock_guard lock(mutex_);
    std::erase(peerListeners_, &listener);
}

Status FakeContext::bind(std::span<const protocol::RequestCode> codes, plugin::Processor& processor, const plugin::BindOptions& options) {
    if (options.listener != "broker" && options.listener != "namesrv") {
        return {StatusCode::NotFound, "this process has no listener '" + std::string(options.listener) + "'"};
    }
    for (const auto code : codes) {
        const Binding binding{&processor, std::string(options.listener), options.loopSafe, options.executor};
        const auto number = static_cast<std::int32_t>(code);
        if (!bindings_.emplace(std::pair(binding.listener, number), binding).second) {
            return {StatusCode::AlreadyExists, "code " + std::to_string(number) + " is bound twice on " + binding.listener};
        }
    }
    return Status::ok();
}

Status FakeContext::add(std::string_view listener, plugin::Phase phase, std::int32_t order, plugin::Interceptor& interceptor) {
    interceptors_.push_back({std::string(listener), phase, order, &interceptor});
    return Status::ok();
}

const Binding* FakeContext::binding(protocol::RequestCode code, std::string_view listener) const {
    const auto at = bindings_.find(std::pair(std::string(listener), static_cast<std::int32_t>(code)));
    return at == bindings_.end() ? nullptr : &at->second;
}

CallResult FakeContext::call(protocol::RequestCode code, const Fields& fields, std::string_view body, const CallOptions& options) {
    protocol::RemotingCommand command = protocol::RemotingCommand::request(code);
    command.fields = fields;
    command.hasFields = !fields.empty();
    command.body = body;
    return send(std::move(command), options);
}

CallResult FakeContext::send(protocol::RemotingCommand command, const CallOptions& options) {
    command.opaque = ++lastOpaque_;
    command.version = options.version;
    command.language = options.language;
    if (options.oneway) command.flag |= protocol::kFlagOneway;
    if (!options.peer && !defaultPeer_) defaultPeer_ = peer();

    auto state = std::make_shared<CallResult::State>();
    CallResult result(*this, state);
    auto frame = command.encode(options.serializeType);
    PATCHBAY_ASSERT(frame.has_value());  // the test's request does not fit in a frame
    auto* request = new TestRequest(*this, state, options.peer ? options.peer : defaultPeer_, options, std::move(*frame));
    const Status decoded = request->decode();
    PATCHBAY_ASSERT(decoded.isOk());

    dispatch(request);
    if (options.endOfBatch) {
        endBatch();
        pump();
    }
    return result;
}

void FakeContext::dispatch(TestRequest* core) {
    plugin::Request request(core);
    const auto number = core->command->code;
    if (routesClosed_) return std::move(request).respond(protocol::ResponseCode::GoAway, "the broker is stopping");
    const Binding* bound = binding(static_cast<protocol::RequestCode>(number), core->peer->listener());
    if (bound == nullptr) {
        return std::move(request).respond(protocol::ResponseCode::RequestCodeNotSupported,
                                          " request type " + std::to_string(number) + " not supported");
    }
    if (!core->wantsExecutor() && !bound->processor->admits(*core->command)) {
        return std::move(request).respond(protocol::ResponseCode::SystemBusy, "[REJECTREQUEST]system busy, start flow control for a while");
    }
    core->deferred = core->wantsExecutor();
    core->lane = core->deferred || !bound->loopSafe ? kExecutorLane : kLoopLane;
    core->countRound();
    turns_.emplace(core->lane, bound->processor);
    running_ = core;
    thrown_ = nullptr;
    std::string error;
    try {
        bound->processor->process(std::move(request));
    } catch (const std::exception& exception) {
        error = exception.what();
    }
    running_ = nullptr;
    if (thrown_ != nullptr) plugin::Request(thrown_).respond(protocol::ResponseCode::SystemError, std::move(error));
}

bool FakeContext::isThrown(TestRequest& request) noexcept {
    if (running_ != &request || std::uncaught_exceptions() == 0) return false;
    thrown_ = &request;
    return true;
}

void FakeContext::enqueue(TestRequest* request) {
    const std::lock_guard lock(mutex_);
    returned_.push_back(request);
}

void FakeContext::endBatch() {
    for (const auto& [lane, processor] : std::exchange(turns_, {})) processor->endOfBatch(lane);
}

bool FakeContext::runOneReturned() {
    TestRequest* request = nullptr;
    {
        const std::lock_guard lock(mutex_);
        if (returned_.empty()) return false;
        request = returned_.front();
        returned_.pop_front();
    }
    dispatch(request);
    endBatch();
    return true;
}

void FakeContext::pump() {
    // A plugin that gives a request back each time it gets it would keep us here for ever.
    static constexpr int kRoundsMax = 100'000;
    for (int round = 0; round < kRoundsMax; ++round) {
        tellClosed();
        if (!runOneReturned() && !timers_.runOne()) return;
    }
    ADD_FAILURE() << "tasks or redispatched requests do not come to an end";
}

void FakeContext::advance(std::chrono::milliseconds by) {
    const MonotonicTime end = clock_.now() + by;
    pump();
    while (timers_.nextDue() <= end) {
        const auto step = timers_.nextDue() - clock_.now();
        clock_.advance(std::chrono::ceil<std::chrono::milliseconds>(step));
        pump();
    }
    clock_.advance(std::chrono::ceil<std::chrono::milliseconds>(end - clock_.now()));
}

Ref<FakePeer> FakeContext::peer(std::string_view remote, std::string_view listener) {
    auto address = SocketAddress::parse(remote);
    PATCHBAY_ASSERT(address.has_value());
    peers_.push_back(Ref<FakePeer>::adopt(new FakePeer(++lastPeerId_, *address, std::string(listener))));
    return peers_.back();
}

void FakeContext::disconnect(const Ref<FakePeer>& peer) {
    peer->close("the client went away");
    pump();
}

void FakeContext::tellClosed() {
    for (const auto& peer : std::vector(peers_)) {
        if (peer->isOpen() || !peer->end()) continue;
        std::vector<plugin::PeerListener*> listeners;
        {
            const std::lock_guard lock(mutex_);
            listeners = peerListeners_;
        }
        for (auto* listener : listeners) listener->peerClosed(*peer);
        std::erase(peers_, peer);
    }
}

void FakeContext::closeRoutes() { routesClosed_ = true; }

void FakeContext::forgetPlugins() {
    bindings_.clear();
    interceptors_.clear();
    turns_.clear();
    services_.forgetPublished();
    routesClosed_ = false;
    const std::lock_guard lock(mutex_);
    peerListeners_.clear();
}

}  // namespace patchbay::testkit
