#include "dispatch/Dispatcher.h"

#include "patchbay/base/Assert.h"
#include "patchbay/protocol/FrameCodec.h"
#include "patchbay/protocol/PackedCommand.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace patchbay::kernel {

namespace {

constexpr std::size_t kKeptEncodedBytes = 4096;

using plugin::LogLevel;
using plugin::Response;
using plugin::Verdict;
using protocol::ResponseCode;

// Peers above this version reconnect when they are told to go away; older ones take 1500 for an unknown error.
constexpr std::int32_t kNewestWithoutGoAway = 475;
// How often requests that wait in a queue are looked at once the first may have waited too long.
constexpr std::chrono::milliseconds kExpiryInterval{10};

// RocketMQ's texts, which clients and people know; what waited, and against which limit, stands behind them.
constexpr const char* kRejected = "[REJECTREQUEST]system busy, start flow control for a while";
constexpr const char* kOverload = "[OVERLOAD]system busy, start flow control for a while";
// Smaller answers touch no counters on their way to the loop, where they are counted with others.
constexpr std::size_t kPromiseMin = 4U << 10;
// After a call that held up a loop, so many turns name the next one precisely.
constexpr int kTimedTurns = 1000;

// Of whom a plugin's misuse is counted; there is one dispatcher in a process.
std::atomic<Dispatcher*> theDispatcher{nullptr};

std::int64_t microseconds(std::chrono::nanoseconds time) noexcept {
    return std::chrono::duration_cast<std::chrono::microseconds>(time).count();
}

/// Pieces that are copied need nobody to keep them; any of the others may need any of the keep-alives.
void writeBody(RequestOrigin& origin, const std::vector<std::string_view>& pieces, std::vector<KeepAlive>& keep) {
    bool referenced = false;
    for (const auto piece : pieces) {
        origin.addOutput(piece, {});
        referenced = referenced || piece.size() >= net::OutboundQueue::kCopyMax;
    }
    if (!referenced) return;
    for (auto& one : keep) origin.addOutput({}, std::move(one));
}

}  // namespace

Dispatcher::Dispatcher(net::EventLoopPool& loops, Executors& executors, const Clock& clock, plugin::Logger& log,
                       plugin::Metrics& metrics)
    : loops_(loops), executors_(executors), clock_(clock), log_(log),
      requests_(metrics.counter("patchbay_requests_total", "Requests received on all listeners.")),
      overload_(metrics.counter("patchbay_requests_refused_total", "Requests refused because a limit was reached.")),
      bugs_(metrics.counter("patchbay_plugin_faults_total", "Requests that a plugin dropped or failed on.")),
      observed_(loops.size(), clock), table_(RouteTable::build(0, {})) {
    for (std::uint32_t i = 0; i < loops_.size(); ++i) {
        lanes_.push_back(std::make_unique<LaneContext>(i, this));
        pools_.push_back(std::make_unique<RequestPool>());
        loops_.loop(i).addTurnListener(*lanes_.back());
    }
    theDispatcher.store(this, std::memory_order_release);
    plugin::onRequestMisuse(&Dispatcher::misused);
}

Dispatcher::~Dispatcher() {
    plugin::onRequestMisuse(nullptr);
    theDispatcher.store(nullptr, std::memory_order_release);
}

void Dispatcher::limit(const HoldLimits& hold, const HeldBackLimits& heldBack, std::chrono::milliseconds slowCall) {
    hold_ = hold;
    heldBackLimits_ = heldBack;
    slowUs_ = microseconds(slowCall);
}

void Dispatcher::publish(Ref<RouteTable> table) {
    table->forEach([this](ListenerIndex listener, std::int32_t code, Binding& binding) {
        if (binding.generation) binding.cells = &observed_.cells(listener, code, binding.generation->plugin());
    });
    intercepting_.store(table->intercepts(), std::memory_order_release);
    {
        const std::lock_guard lock(mutex_);
        table_.swap(table);
        epoch_.fetch_add(1, std::memory_order_release);
    }
    for (std::uint32_t i = 0; i < loops_.size(); ++i) {
        loops_.loop(i).post([this, i] {
            tableOf(*lanes_[i]);
            release(*lanes_[i]);
        });
    }
}

std::size_t Dispatcher::held() const noexcept {
    std::size_t sum = 0;
    for (const auto& lane : lanes_) sum += lane->heldCount.load(std::memory_order_relaxed);
    return sum;
}

std::size_t Dispatcher::active() const noexcept {
    std::size_t sum = 0;
    for (const auto& lane : lanes_) sum += lane->active.load(std::memory_order_relaxed);
    return sum;
}

RouteTable& Dispatcher::tableOf(LaneContext& lane) noexcept {
    if (lane.epoch != epoch_.load(std::memory_order_acquire)) [[unlikely]] {
        Ref<RouteTable> old;  // dropped after the lock: it may be the last reference
        const std::lock_guard lock(mutex_);
        old = std::exchange(lane.table, table_);
        lane.epoch = epoch_.load(std::memory_order_relaxed);
    }
    return *lane.table;
}

std::string Dispatcher::unsupported(const RouteTable& table, ListenerIndex listener, std::int32_t code) const {
    std::string text = " request type " + std::to_string(code) + " not supported";
    if (listenerNames_ == nullptr) return text;
    // A broker and a name server answer as RocketMQ's do, to the letter. It has no port for administration.
    const auto isExtra = [this](ListenerIndex index) { return (*listenerNames_)[index] != "broker" && (*listenerNames_)[index] != "namesrv"; };
    std::string others;
    for (ListenerIndex other = 0; other < listenerNames_->size(); ++other) {
        if (other == listener || !(isExtra(listener) || isExtra(other)) || table.find(other, code) == nullptr) continue;
        others += (others.empty() ? "'" : ", '") + (*listenerNames_)[other] + "'";
    }
    if (!others.empty()) text += " on this port, but on that of the listener " + others;
    return text;
}

bool Dispatcher::serves(ListenerIndex listener, std::int32_t code) const {
    const std::lock_guard lock(mutex_);
    return table_ && table_->find(listener, code) != nullptr;
}

Ref<RouteTable> Dispatcher::table() const {
    const std::lock_guard lock(mutex_);
    return table_;
}

ServerRequest& Dispatcher::fresh(RequestOrigin& origin, net::ReceiveChunk& chunk) {
    auto& loop = origin.originLoop;
    auto& request = *pools_[loop.index()]->take(*this);
    request.peer = Ref<plugin::Peer>::share(&origin);
    request.chunk_ = KeepAlive(Ref<net::ReceiveChunk>::share(&chunk));
    request.received = loop.now();
    request.lane = loop.index();
    request.again = false;
    request.deferred = false;
    return request;
}

void Dispatcher::drop(ServerRequest& request) noexcept {
    auto& pool = *pools_[request.origin().originLoop.index()];
    request.chunk_.reset();
    request.peer.reset();
    pool.giveBack(&request);
}

void Dispatcher::enter(ServerRequest& request) noexcept {
    auto& lane = *lanes_[request.origin().originLoop.index()];
    lane.active.store(lane.active.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    ++lane.entered;
    request.inFlight_ = true;
    // A turn reads its sockets before the task that publish() has posted: what waited goes first, or one connection's requests
    // would overtake each other.
    if (lane.heldCount.load(std::memory_order_relaxed) > 0 && lane.epoch != epoch_.load(std::memory_order_acquire)) [[unlikely]] {
        tableOf(lane);
        release(lane);
    }
    admit(request);
}

void Dispatcher::admit(ServerRequest& request) noexcept {
    if (intercepting_.load(std::memory_order_acquire)) [[unlikely]] {
        auto& lane = *lanes_[request.origin().originLoop.index()];
        // The table is kept: an interceptor may publish another one.
        const auto table = Ref<RouteTable>::share(&tableOf(lane));
        const auto listener = request.origin().listenerIndex;
        if (table->holdsAll(listener) && !refusing_.load(std::memory_order_acquire)) return hold(request);
        if (const auto* chain = table->chain(listener)) {
            auto verdict = chain->admit(request, *this);
            if (verdict.kind == Verdict::Kind::Close) {
                request.peer->close("refused by an interceptor");
                return finish(request);
            }
            if (verdict.kind == Verdict::Kind::Answer) {
                if (!verdict.answer) verdict.answer.emplace(ResponseCode::SystemError, "refused without an answer");
                return answerOnLoop(request, *verdict.answer);
            }
        }
    }
    request.admitted_ = true;
    route(request);
}

void Dispatcher::hold(ServerRequest& request) noexcept {
    auto& lane = *lanes_[request.origin().originLoop.index()];
    const auto loops = lanes_.size();
    if (lane.heldCount.load(std::memory_order_relaxed) >= hold_.requests / loops ||
        lane.heldBytes + request.frameBytes() > hold_.bytes / loops) {
        overload_.add();
        const auto now = request.origin().originLoop.now();
        const auto waited = microseconds(now - lane.heldSince(now));
        return reject(request, ResponseCode::SystemBusy,
                      std::string(kOverload) + ", plugins are being exchanged and " + std::to_string(held()) +
                          " requests wait for it already, the oldest for " + std::to_string(waited / 1000) + "ms, limits reload.holdRequestsMax " + std::to_string(hold_.requests) +
                          " and reload.holdBytesMax " + std::to_string(hold_.bytes));
    }
    auto& loop = request.origin().originLoop;
    request.queuedAt_ = loop.now();
    request.binding_ = {};   // one that was handed back must not keep the generation that is to end
    lane.hold(request);
    if (std::exchange(lane.holdTimer, true)) return;
    loop.after(hold_.wait, [this, &lane] { holdTooLong(lane); });
}

void Dispatcher::release(LaneContext& lane) noexcept {
    auto* request = lane.takeHeld();
    while (request != nullptr) {
        auto* const next = std::exchange(request->next_, nullptr);
        again(*request);
        request = next;
    }
}

void Dispatcher::holdTooLong(LaneContext& lane) noexcept {
    auto& loop = loops_.loop(lane.lane);
    auto* request = lane.takeHeldBefore(loop.now() - hold_.wait);
    while (request != nullptr) {
        auto* const next = std::exchange(request->next_, nullptr);
        overload_.add();
        reject(*request, ResponseCode::SystemBusy,
               std::string(kOverload) + ", waited " + std::to_string(microseconds(loop.now() - request->queuedAt_) / 1000) +
                   "ms for plugins to be exchanged, limit reload.holdMs " + std::to_string(hold_.wait.count()) + "ms");
        request = next;
    }
    lane.holdTimer = lane.heldCount.load(std::memory_order_relaxed) > 0;
    if (lane.holdTimer) loop.after(kExpiryInterval, [this, &lane] { holdTooLong(lane); });
}

// Every request passes here on its way to a plugin, and again when it was handed back: the one place to hold requests while
// what serves them is exchanged.
void Dispatcher::route(ServerRequest& request) noexcept {
    auto& lane = *lanes_[request.origin().originLoop.index()];
    if (refusing_.load(std::memory_order_acquire)) [[unlikely]] {
        const bool goes = request.view.version > kNewestWithoutGoAway;
        return reject(request, goes ? ResponseCode::GoAway : ResponseCode::SystemBusy,
                      goes ? "please go away" : "the broker is stopping");
    }
    const auto& table = tableOf(lane);
    const auto* binding = table.find(request.origin().listenerIndex, request.view.code);
    if (binding == nullptr) {
        return reject(request, ResponseCode::RequestCodeNotSupported, unsupported(table, request.origin().listenerIndex, request.view.code));
    }
    if (binding->processor == nullptr) [[unlikely]] return hold(request);
    // The lease is taken while the table, which holds the generation, is certainly there.
    request.binding_ = *binding;
    request.lane = lane.lane;
    if (request.cell_ == nullptr) {
        request.cell_ = &(*binding->cells)[lane.lane];
        RequestCell::add(request.cell_->calls);
    }
    if (!binding->processor->admits(request.view)) {
        overload_.add();
        return reject(request, ResponseCode::SystemBusy, std::string(kRejected) + ", plugin " + binding->generation->plugin() +
                                                             " takes no more requests of code " + std::to_string(request.view.code));
    }
    if (binding->loopSafe) {
        runProcessor(request, lane);
    } else {
        enqueue(request);
    }
}

void Dispatcher::runProcessor(ServerRequest& request, LaneContext& lane) noexcept {
    lane.called(request.binding_);
    // Both outlive the request, which may be gone after the call: the lane holds the generation until the batch ends.
    auto& processor = *request.binding_.processor;
    auto& generation = *request.binding_.generation;
    const auto code = request.view.code;
    auto* const outer = LaneContext::exchangeCurrent(&lane);
    lane.caller = &generation;
    lane.running = &request;
    lane.thrown = nullptr;
    std::string error;
    bool failed = true;
    const auto begin = lane.timedTurns > 0 ? clock_.now() : MonotonicTime();
    try {
        processor.process(plugin::Request(&request));
        failed = false;
    } catch (const std::exception& exception) {
        error = exception.what();
    } catch (...) {
        error = "unknown exception";
    }
    lane.caller = nullptr;
    lane.running = nullptr;
    LaneContext::exchangeCurrent(outer);
    if (lane.timedTurns > 0) [[unlikely]] {
        if (const auto us = microseconds(clock_.now() - begin); isSlow(us)) heldUp(generation, code, us);
    }
    if (!failed) [[likely]] return;
    bugs_.add();
    observed_.fault(generation.plugin(), PluginFault::Exception);
    log_.limited(LogLevel::Error, "plugin failed on a request",
                 {{"plugin", generation.plugin()}, {"code", code}, {"error", error}});
    if (auto* const thrown = std::exchange(lane.thrown, nullptr)) reject(*thrown, ResponseCode::SystemError, std::move(error));
}

void Dispatcher::enqueue(ServerRequest& request) noexcept {
    auto* const executor = request.binding_.executor;
    if (executor == nullptr) {
        bugs_.add();
        log_.limited(LogLevel::Error, "plugin deferred a request without having an executor",
                     {{"plugin", request.binding_.generation->plugin()}, {"code", request.view.code}});
        return reject(request, ResponseCode::SystemError, "no executor to defer to");
    }
    auto& loop = request.origin().originLoop;  // the request may be gone once it is pushed
    if (const auto full = executor->push(request)) {
        overload_.add();
        return reject(request, ResponseCode::SystemBusy, std::string(kOverload) + *full);
    }
    if (executor->armExpiry()) armExpiry(*executor, loop, std::max(kExpiryInterval, executor->spec().maxQueueWait));
}

void Dispatcher::holdBack(ServerRequest& request) noexcept {
    auto& loop = request.origin().originLoop;
    request.posted_ = ServerRequest::Posted::HoldBack;
    loop.post(request);
}

void Dispatcher::heldBack(ServerRequest& request) noexcept {
    // What serves it may be exchanged while it waits.
    request.binding_ = {};
    request.deferred = false;
    if (std::exchange(request.released_, false)) request.origin().releasedLeft();
    if (!request.origin().isOpen()) return finish(request);
    const auto waiting = heldBackCount_.load(std::memory_order_relaxed);
    if (waiting >= heldBackLimits_.requests ||
        heldBackBytes_.load(std::memory_order_relaxed) + request.frameBytes() > heldBackLimits_.bytes) {
        overload_.add();
        return reject(request, ResponseCode::SystemBusy,
                      std::string(kOverload) + ", this connection does not take its answers, and " + std::to_string(waiting) +
                          " requests wait for such connections already, limits serverHeldBackMax " + std::to_string(heldBackLimits_.requests) +
                          " and serverHeldBackBytesMax " + std::to_string(heldBackLimits_.bytes));
    }
    // Or a few bytes would keep a whole chunk.
    if (request.view.body.empty() && request.chunk_) {
        request.texts_ = protocol::PackedCommand(request.view).unpack(request.view);
        request.chunk_.reset();
    }
    heldBackCount_.fetch_add(1, std::memory_order_relaxed);
    heldBackBytes_.fetch_add(request.frameBytes(), std::memory_order_relaxed);
    request.origin().holdBack(request);
}

void Dispatcher::noLongerHeldBack(const ServerRequest& request) noexcept {
    heldBackCount_.fetch_sub(1, std::memory_order_relaxed);
    heldBackBytes_.fetch_sub(request.frameBytes(), std::memory_order_relaxed);
}

void Dispatcher::release(ServerRequest& request) noexcept {
    noLongerHeldBack(request);
    request.released_ = true;
    auto& loop = request.origin().originLoop;
    lanes_[loop.index()]->handBack(request);
    loop.turnAgain();
}

void Dispatcher::forget(ServerRequest& request) noexcept {
    noLongerHeldBack(request);
    finish(request);
}

void Dispatcher::armExpiry(BoundedExecutor& executor, net::EventLoop& loop, std::chrono::milliseconds delay) {
    if (!loop.inLoop()) return loop.post([&executor, &loop, delay] { armExpiry(executor, loop, delay); });
    loop.after(delay, [&executor, &loop] {
        executor.expiryDue();
        if (executor.expire(loop.now()) && executor.armExpiry()) armExpiry(executor, loop, kExpiryInterval);
    });
}

void Dispatcher::reject(ServerRequest& request, ResponseCode code, std::string remark) noexcept {
    Response response(code, std::move(remark));
    request.answer(response);
}

std::int64_t Dispatcher::turnTook(plugin::Lane lane) const noexcept {
    return microseconds(clock_.now() - loops_.loop(lane).now());
}

void Dispatcher::turnWasSlow(LaneContext& lane, std::int64_t us, const std::vector<const Generation*>& callers) noexcept {
    if (callers.empty() || std::exchange(lane.timedTurns, kTimedTurns) > 1) return;   // each slow call was named by itself
    if (callers.size() == 1) return heldUp(*callers.front(), -1, us);
    std::string names;
    for (const auto* one : callers) names += (names.empty() ? "" : ",") + one->plugin();
    log_.limited(LogLevel::Warn, "plugins held up an I/O loop", {{"plugins", names}, {"ms", us / 1000}, {"limit", slowUs_ / 1000}});
}

void Dispatcher::heldUp(const Generation& by, std::int32_t code, std::int64_t us) noexcept {
    observed_.fault(by.plugin(), PluginFault::SlowCall);
    log_.limited(LogLevel::Warn, "plugin held up an I/O loop; it should defer() or run on an executor",
                 {{"plugin", by.plugin()}, {"code", code < 0 ? "several" : std::to_string(code)}, {"ms", us / 1000}, {"limit", slowUs_ / 1000}});
}

void Dispatcher::interceptorFailed(const std::string& plugin, std::int32_t code, const std::string& error) const noexcept {
    observed_.fault(plugin, PluginFault::Exception);
    log_.limited(LogLevel::Error, "interceptor failed", {{"plugin", plugin}, {"code", code}, {"error", error}});
}

void Dispatcher::misused() noexcept {
    auto* const me = theDispatcher.load(std::memory_order_acquire);
    if (me == nullptr) return;
    const auto* const here = LaneContext::current();
    // On a thread of its own a plugin cannot be told from others.
    const std::string plugin = here != nullptr && here->caller != nullptr ? here->caller->plugin() : "unknown";
    me->bugs_.add();
    me->observed_.fault(plugin, PluginFault::Twice);
    me->log_.limited(LogLevel::Error, "plugin used a request that it had given away", {{"plugin", plugin}});
}

void Dispatcher::dropped(ServerRequest& request) noexcept {
    bugs_.add();
    const auto& plugin = request.binding_.generation->plugin();
    observed_.fault(plugin, PluginFault::Dropped);
    log_.limited(LogLevel::Error, "plugin dropped a request without an answer",
                 {{"plugin", plugin}, {"code", request.view.code}});
    reject(request, ResponseCode::SystemError, "plugin '" + plugin + "' dropped the request without an answer");
}

void Dispatcher::answerOnLoop(ServerRequest& request, Response& response) noexcept {
    request.answered_ = response.code;
    if (!request.view.isOneway()) {
        auto& origin = request.origin();
        if (auto* const output = origin.output()) {
            encode(request, response, *output);
            writeBody(origin, response.body, response.keep);
            origin.outputDone();
        } else if (request.binding_.generation) {
            observed_.fault(request.binding_.generation->plugin(), PluginFault::Undeliverable);
        }
    }
    finish(request);
}

void Dispatcher::answerElsewhere(ServerRequest& request, Response& response) noexcept {
    auto& loop = request.origin().originLoop;
    request.answered_ = response.code;
    if (!request.view.isOneway()) {
        encode(request, response, request.encoded_);
        request.pieces_.swap(response.body);
        request.keep_.swap(response.keep);
        auto bytes = request.encoded_.size();
        for (const auto piece : request.pieces_) bytes += piece.size();
        if (bytes >= kPromiseMin) request.origin().promise(request.promised_ = bytes);
    }
    request.posted_ = ServerRequest::Posted::Answer;
    loop.post(request);
}

void Dispatcher::writeEncoded(ServerRequest& request) noexcept {
    auto& origin = request.origin();
    if (auto* const output = request.view.isOneway() ? nullptr : origin.output()) {
        output->append(request.encoded_.view());
        writeBody(origin, request.pieces_, request.keep_);
        origin.outputDone();
    } else if (!request.view.isOneway() && request.binding_.generation) {
        observed_.fault(request.binding_.generation->plugin(), PluginFault::Undeliverable);
    }
    if (const auto bytes = std::exchange(request.promised_, 0); bytes > 0) origin.arrived(bytes);
    finish(request);
}

void Dispatcher::encode(ServerRequest& request, Response& response, protocol::ByteWriter& to) noexcept {
    if (intercepting_.load(std::memory_order_acquire)) [[unlikely]] {
        const auto current = table();
        if (const auto* chain = current->chain(request.origin().listenerIndex)) chain->responding(request, response, *this);
    }
    const auto& command = request.view;
    protocol::CommandHead head;
    head.code = static_cast<std::int32_t>(response.code);
    head.opaque = command.opaque;
    head.flag = protocol::kFlagResponse;
    if (!response.remark.empty()) head.remark = response.remark;
    if (response.hasFields) response.fields().markPresent();
    const auto status = protocol::encodeFrameHeader(to, head, std::as_const(response).fields(), command.serializeType,
                                                    response.bodyBytes());
    if (status) [[likely]] return;
    bugs_.add();
    const auto* const generation = request.binding_.generation.get();
    if (generation != nullptr) observed_.fault(generation->plugin(), PluginFault::Oversize);
    request.answered_ = ResponseCode::SystemError;
    log_.limited(LogLevel::Error, "answer is too large for a frame",
                 {{"plugin", generation != nullptr ? generation->plugin() : "none"}, {"code", command.code},
                  {"bytes", response.bodyBytes()}});
    response.body.clear();
    response.keep.clear();
    head.code = static_cast<std::int32_t>(ResponseCode::SystemError);
    head.remark = "the answer is too large for a frame";
    const auto encoded = protocol::encodeFrameHeader(to, head, protocol::FieldList(), command.serializeType, 0);
    PATCHBAY_ASSERT(encoded);
}

void Dispatcher::finish(ServerRequest& request) noexcept {
    auto& origin = request.origin();
    auto& loop = origin.originLoop;
    auto& lane = *lanes_[loop.index()];
    if (intercepting_.load(std::memory_order_acquire)) [[unlikely]] {
        const auto current = Ref<RouteTable>::share(&tableOf(lane));
        if (const auto* chain = current->chain(origin.listenerIndex)) chain->completed(request, *this);
    }
    lane.active.store(lane.active.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
    if (auto* const cell = std::exchange(request.cell_, nullptr)) {
        RequestCell::add(cell->answered);
        if (request.answered_ == ResponseCode::SystemError) RequestCell::add(cell->errors);
        if (request.answered_ == ResponseCode::SystemBusy) RequestCell::add(cell->busy);
        if (request.queueWaitUs_ >= 0) cell->waited(request.queueWaitUs_);
        const auto age = loop.now() - request.received;
        if (age.count() <= 0) lane.endedInTurn(*cell);
        else cell->took(microseconds(age));
    }
    request.leaveFlight();
    recycle(request, loop);
}

void Dispatcher::recycle(ServerRequest& request, const net::EventLoop& loop) noexcept {
    if (!loop.inLoop()) {
        delete &request;
        return;
    }
    request.answered_ = {};
    request.queueWaitUs_ = -1;
    request.admitted_ = false;
    request.binding_ = {};
    request.chunk_.reset();
    request.texts_.reset();
    request.view.body = {};
    // A pooled request must not keep the room that one long text needed.
    if (request.encoded_.capacity() > kKeptEncodedBytes) request.encoded_ = protocol::ByteWriter();
    request.encoded_.clear();
    request.pieces_.clear();
    request.keep_.clear();
    request.peer.reset();
    pools_[loop.index()]->giveBack(&request);
}

}  // namespace patchbay::kernel
