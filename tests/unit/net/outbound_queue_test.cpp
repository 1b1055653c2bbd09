// Proved: bytes leave in the order in which they were added, whatever part a socket takes, and are released when sent.
// How: a transport that takes as much as the test allows.
// Left to others: when a connection flushes (tests/integration/server).
#include "patchbay/net/OutboundQueue.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace patchbay::net {
namespace {

class SlowTransport final : public Transport {
public:
    int fd() const noexcept override { return -1; }
    IoResult receive(std::span<char>) noexcept override { return {IoResult::Kind::WouldBlock, 0, 0}; }
    IoResult send(std::span<const iovec> pieces) noexcept override {
        ++calls;
        std::size_t taken = 0;
        for (const auto& piece : pieces) {
            const auto size = std::min(piece.iov_len, allowed - taken);
            got.append(static_cast<const char*>(piece.iov_base), size);
            taken += size;
        }
        allowed -= taken;
        if (taken == 0) return {IoResult::Kind::WouldBlock, 0, 0};
        return {IoResult::Kind::Done, taken, 0};
    }
    void endSending() noexcept override {}

    std::string got;
    std::size_t allowed = SIZE_MAX;
    int calls = 0;
};

struct Flag final : RefCounted {
    explicit Flag(int& out) : released(out) {}
    ~Flag() override { ++released; }
    int& released;
};

struct OutboundQueueTest : ::testing::Test {
    void add(std::string_view text) {
        queue.writer(buffers).append(text);
        queue.appended();
    }
    SlowTransport transport;
    OutputBuffers buffers;
    OutboundQueue queue;
};

TEST_F(OutboundQueueTest, HeadersAndBodiesLeaveInOneWriteInOrder) {
    const std::string body(5'000, 'b');
    int released = 0;
    add("head1");
    queue.addPiece(buffers, body, KeepAlive(Ref<Flag>::adopt(new Flag(released))));
    add("head2");
    queue.addPiece(buffers, "small", {});
    add("head3");
    EXPECT_EQ(released, 0);
    EXPECT_EQ(queue.flush(transport, buffers).kind, IoResult::Kind::Done);
    EXPECT_EQ(transport.got, "head1" + body + "head2smallhead3");
    EXPECT_EQ(transport.calls, 1);
    EXPECT_EQ(released, 1);
    EXPECT_TRUE(queue.empty());
}

TEST_F(OutboundQueueTest, APieceIsKeptUntilItsLastByteIsSent) {
    const std::string body(5'000, 'b');
    int released = 0;
    queue.addPiece(buffers, body, {});
    queue.addPiece(buffers, {}, KeepAlive(Ref<Flag>::adopt(new Flag(released))));
    transport.allowed = 4'999;
    EXPECT_EQ(queue.flush(transport, buffers).kind, IoResult::Kind::WouldBlock);
    EXPECT_EQ(released, 0);
    EXPECT_EQ(queue.bytes(), 1U);
    transport.allowed = 1;
    EXPECT_EQ(queue.flush(transport, buffers).kind, IoResult::Kind::Done);
    EXPECT_EQ(released, 1);
}

TEST_F(OutboundQueueTest, RandomPiecesThroughAStutteringSocketArriveAsTheyWere) {
    std::mt19937 random(3);
    std::string expected;
    int released = 0;
    int kept = 0;
    for (int i = 0; i < 4'000; ++i) {
        const std::string text(random() % 300, static_cast<char>('a' + i % 26));
        add(text);
        expected += text;
        if (random() % 2 == 0) {
            auto slice = Slice::own(std::string(random() % 3'000, static_cast<char>('A' + i % 26)));
            expected += slice.bytes;
            queue.addPiece(buffers, slice.bytes, {});
            queue.addPiece(buffers, {}, std::move(slice.keep));
            queue.addPiece(buffers, {}, KeepAlive(Ref<Flag>::adopt(new Flag(released))));
            ++kept;
        }
        transport.allowed = random() % 4'000;
        queue.flush(transport, buffers);
    }
    transport.allowed = SIZE_MAX;
    EXPECT_EQ(queue.flush(transport, buffers).kind, IoResult::Kind::Done);
    EXPECT_TRUE(transport.got == expected);
    EXPECT_EQ(released, kept);
}

TEST_F(OutboundQueueTest, MessagesThatLieApartLeaveInOneCall) {
    const std::string body(600, 'b');
    for (int i = 0; i < 300; ++i) queue.addPiece(buffers, body, {});
    EXPECT_EQ(queue.flush(transport, buffers).kind, IoResult::Kind::Done);
    EXPECT_EQ(transport.got.size(), 180'000U);
    EXPECT_EQ(transport.calls, 1);
}

TEST_F(OutboundQueueTest, MorePiecesThanOneCallTakesStillAllLeave) {
    const std::string body(600, 'b');
    for (int i = 0; i < 3'000; ++i) queue.addPiece(buffers, body, {});
    EXPECT_EQ(queue.flush(transport, buffers).kind, IoResult::Kind::Done);
    EXPECT_EQ(transport.got.size(), 1'800'000U);
    EXPECT_GT(transport.calls, 1);
}

}  // namespace
}  // namespace patchbay::net
