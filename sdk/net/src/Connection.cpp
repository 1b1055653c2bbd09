#include "patchbay/net/Connection.h"

#include "patchbay/base/Assert.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <sys/socket.h>
#include <utility>

namespace patchbay::net {

namespace {

std::string reasonOf(const char* what, int error) { return std::string(what) + ": " + std::strerror(error); }

std::string reasonOf(const char* what, const Transport& transport, int error) {
    const auto words = transport.lastFailure();
    return words.empty() ? reasonOf(what, error) : words;
}

}  // namespace

Connection::Connection(EventLoop& loop, ConnectionLimits& limits) noexcept
    : loop_(loop), limits_(limits), reader_(limits.frameBytesMax) {}

Connection::~Connection() = default;

void Connection::open(std::unique_ptr<Transport> transport, bool connecting) {
    PATCHBAY_ASSERT(loop_.inLoop());
    transport_ = std::move(transport);
    connecting_ = connecting;
    lastActive_ = loop_.now();
    interest_ = connecting ? kWritable : kReadable;
    open_.store(true, std::memory_order_release);
    if (!loop_.poller().add(transport_->fd(), interest_, *this)) close("the system watches no more descriptors");
}

void Connection::close(std::string_view reason) noexcept {
    PATCHBAY_ASSERT(loop_.inLoop());
    if (!isOpen()) return;
    open_.store(false, std::memory_order_release);
    loop_.poller().remove(transport_->fd());
    transport_.reset();
    outbound_.clear(loop_.buffers());
    noteBacklog(0);
    reader_.drop();
    noteUnfinished(0);
    loop_.releaseAfterTurn(self());
    closed(reason);
}

void Connection::closeAfterFlush(std::string_view reason) noexcept {
    if (!isOpen()) return;
    closeReason_ = reason;
    setPause(kClosing, true);
    loop_.markForFlush(*this);
}

void Connection::ready(std::uint32_t readiness) noexcept {
    if (!isOpen()) return;
    if (connecting_) return finishConnect();
    if ((readiness & kWritable) != 0 || (!outbound_.empty() && transport_->sendWaitsToReceive())) flush();
    if (!isOpen()) return;
    const bool waits = !outbound_.empty() && transport_->sendWaitsToReceive();
    if (paused_ != 0) {
        // Not reading, so only the poller can tell that the connection is gone.
        if ((readiness & kFailed) != 0) close("connection reset");
        return;
    }
    if ((readiness & (kReadable | kHungUp | kFailed)) != 0) read();
    // What came in between may have been what it waits for, and nothing tells of that again.
    if (waits && isOpen() && !transport_->sendWaitsToReceive()) flush();
}

void Connection::read() noexcept {
    try {
        readBudget();
    } catch (const std::bad_alloc&) {
        undecodable({StatusCode::Busy, "no memory for its frame"});
    }
}

void Connection::readBudget() {
    if (reader_.held() && !handOut()) return;
    auto& cursor = loop_.cursor();
    auto left = limits_.readBudget;
    while (left > 0 && paused_ == 0) {
        const auto place = reader_.place(cursor);
        const auto into = place.first(std::min(place.size(), left));
        const auto result = transport_->receive(into);
        if (result.kind == IoResult::Kind::WouldBlock) break;
        if (result.kind == IoResult::Kind::End) return close("closed by peer");
        if (result.kind == IoResult::Kind::Failed) return close(reasonOf("receive", *transport_, result.error));
        lastActive_ = loop_.now();
        loop_.countReceived(result.bytes);
        reader_.add(cursor, result.bytes);
        if (!prefaceDone_ && !passPreface()) {
            if (!isOpen()) return;
            break;
        }
        if (!handOut()) return;
        left -= result.bytes;
        if (result.bytes < into.size() && !transport_->buffered()) break;
    }
    reader_.park();
    noteUnfinished(reader_.kept());
    if (!isOpen()) return;  // it was this one that had to make room
    unread_ = transport_->buffered();
    if (unread_ && paused_ == 0) resumeSoon();
}

bool Connection::handOut() noexcept {
    const auto status = reader_.handOut(loop_.cursor(), *this);
    if (status) [[likely]] return true;
    // Cancelled: received() has closed it already.
    status.code() == StatusCode::Cancelled ? close("stopped") : undecodable(status);
    return false;
}

// One turn may bring thousands of small questions with large answers, so their sum is watched between them.
FrameSink::Then Connection::frame(std::span<char> bytes, ReceiveChunk& chunk) noexcept {
    if (unfinished_ != 0) noteUnfinished(0);  // what follows has begun later
    if (!received(bytes, chunk)) return Then::Stop;
    const auto queued = outbound_.bytes();
    if (queued >= backlog_.load(std::memory_order_relaxed) + kNoteStep || queued >= limits_.outboundHigh) noteBacklog(queued);
    return paused_ == 0 ? Then::Next : Then::Pause;
}

// In a turn of its own, because the batch of this one may have ended.
void Connection::resumeSoon() noexcept {
    if (std::exchange(resuming_, true)) return;
    loop_.post([this, keep = self()] {
        resuming_ = false;
        if (isOpen() && paused_ == 0) read();
    });
}

bool Connection::passPreface() noexcept {
    const auto skip = preface(reader_.pending());
    if (skip < 0 || !isOpen()) return false;
    reader_.skip(static_cast<std::size_t>(skip));
    prefaceDone_ = true;
    return true;
}

void Connection::finishConnect() noexcept {
    int error = 0;
    socklen_t size = sizeof error;
    if (::getsockopt(transport_->fd(), SOL_SOCKET, SO_ERROR, &error, &size) != 0 || error != 0) {
        return close(reasonOf("connect", error));
    }
    connecting_ = false;
    interest_ = kReadable;
    loop_.poller().change(transport_->fd(), interest_, *this);
    connected();
}

void Connection::flush() noexcept {
    if (!isOpen() || connecting_) return;
    const auto before = outbound_.bytes();
    const auto result = outbound_.flush(*transport_, loop_.buffers());
    if (result.kind == IoResult::Kind::Failed) return close(reasonOf("send", *transport_, result.error));
    if (outbound_.bytes() < before) lastActive_ = loop_.now();
    noteBacklog(outbound_.bytes());
    if ((paused_ & kClosing) != 0 && outbound_.empty()) {
        transport_->endSending();
        return close(std::string(closeReason_));
    }
    setInterest();
}

void Connection::pauseReading(bool pause) noexcept {
    if (!isOpen()) return;
    setPause(kByOwner, pause);
    setInterest();
}

void Connection::noteUnfinished(std::size_t bytes) noexcept {
    if (bytes < kUnfinishedMin) bytes = 0;
    const auto before = std::exchange(unfinished_, bytes);
    if (bytes == before) return;
    if (before == 0) loop_.unfinished().add(*this);
    if (bytes == 0) loop_.unfinished().remove(*this);
    // Unsigned arithmetic wraps as it should when it shrinks.
    auto total = limits_.unfinishedNow.fetch_add(bytes - before, std::memory_order_relaxed) + (bytes - before);
    if (bytes <= before) return;
    // Who began first has had the most time. At the latest it is this connection, when the other loops hold the rest.
    while (total > limits_.unfinishedTotalMax && loop_.unfinished().oldest() != nullptr) {
        loop_.unfinished().oldest()->giveUp();
        total = limits_.unfinishedNow.load(std::memory_order_relaxed);
    }
}

void Connection::giveUp() noexcept {
    undecodable({StatusCode::Busy, "frames that have not come whole hold more memory than all connections may (" +
                                       std::to_string(limits_.unfinishedTotalMax) + " bytes), and this one began first"});
    close("given up");
}

void Connection::setPause(Pause why, bool on) noexcept {
    paused_ = static_cast<std::uint8_t>(on ? paused_ | why : paused_ & ~why);
}

void Connection::setInterest() noexcept {
    if (paused_ == 0 && (reader_.held() || unread_)) resumeSoon();
    std::uint32_t wanted = paused_ == 0 ? kReadable : 0U;
    if (!outbound_.empty()) wanted |= transport_->sendWaitsToReceive() ? kReadable : kWritable;
    if (wanted == interest_) return;
    interest_ = wanted;
    loop_.poller().change(transport_->fd(), wanted, *this);
}

bool Connection::isOver(std::size_t mark) const noexcept {
    const auto own = backlog() + promised_.load(std::memory_order_relaxed);
    return own > 0 && (own >= mark || limits_.outboundNow.load(std::memory_order_relaxed) > limits_.outboundTotalMax);
}

void Connection::promise(std::size_t bytes) noexcept {
    promised_.fetch_add(bytes, std::memory_order_relaxed);
    limits_.outboundNow.fetch_add(bytes, std::memory_order_relaxed);
}

void Connection::arrived(std::size_t bytes) noexcept {
    // Counted as queued first: whoever asks in between had better see too much.
    if (isOpen()) noteBacklog(outbound_.bytes());
    promised_.fetch_sub(bytes, std::memory_order_relaxed);
    limits_.outboundNow.fetch_sub(bytes, std::memory_order_relaxed);
}

void Connection::noteBacklog(std::size_t bytes) noexcept {
    const auto before = backlog_.load(std::memory_order_relaxed);
    if (bytes == 0 && before == 0) return;
    backlog_.store(bytes, std::memory_order_relaxed);
    // Unsigned arithmetic wraps as it should when the backlog shrinks.
    const auto total = limits_.outboundNow.fetch_add(bytes - before, std::memory_order_relaxed) + (bytes - before);
    const bool crowded = bytes > 0 && total > limits_.outboundTotalMax;
    if (bytes >= limits_.outboundHigh || crowded) {
        setPause(kByBacklog, true);
    } else if (bytes <= limits_.outboundLow) {
        setPause(kByBacklog, false);
    }
}

}  // namespace patchbay::net
