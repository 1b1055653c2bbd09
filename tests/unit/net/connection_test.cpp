// Proved: memory for frames that have not come whole is bounded over all connections, and who began first makes room; what waits for a handshake leaves with
// its end.
// How: connections of a loop that the test turns by hand, over transports and a poller that the test feeds.
// Left to others: real sockets and what is answered (tests/plugin, tests/integration).
#include "patchbay/net/Connection.h"
#include "patchbay/testkit/ManualClock.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace patchbay::net {
namespace {

struct FedPoller final : Poller {
    bool add(int fd, std::uint32_t, Pollable& who) noexcept override { return watched.emplace(fd, &who).second; }
    void change(int, std::uint32_t, Pollable&) noexcept override {}
    void remove(int fd) noexcept override { watched.erase(fd); }
    std::size_t wait(std::span<ReadyEvent> events, int) noexcept override {
        const auto found = watched.find(std::exchange(next, -1));
        if (found == watched.end()) return 0;
        events[0] = {found->second, kReadable};
        return 1;
    }
    void wake() noexcept override {}

    std::map<int, Pollable*> watched;
    int next = -1;
};

struct FedTransport final : Transport {
    FedTransport(int descriptor, std::string& from) : number(descriptor), input(from) {}
    [[nodiscard]] int fd() const noexcept override { return number; }
    IoResult receive(std::span<char> into) noexcept override {
        const auto size = std::min(into.size(), input.size());
        if (size == 0) return {IoResult::Kind::WouldBlock};
        std::memcpy(into.data(), input.data(), size);
        input.erase(0, size);
        return {IoResult::Kind::Done, size};
    }
    IoResult send(std::span<const iovec>) noexcept override { return {IoResult::Kind::WouldBlock}; }
    void endSending() noexcept override {}

    int number;
    std::string& input;
};

class Receiver final : public RefCounted, public Connection {
public:
    Receiver(EventLoop& loop, ConnectionLimits& limits) : Connection(loop, limits) {}
    std::size_t frames = 0;
    std::string why;
    std::string input;

private:
    KeepAlive self() noexcept override { return KeepAlive(Ref<Receiver>::share(this)); }
    bool received(std::span<char>, ReceiveChunk&) noexcept override { return ++frames > 0; }
    std::int64_t preface(std::string_view) noexcept override { return 0; }
    void undecodable(const Status& status) noexcept override { why = status.message(); }
    void closed(std::string_view) noexcept override {}
};

std::string frameOf(std::size_t size) {
    std::string frame(4 + size, 'x');
    for (std::size_t i = 0; i < 4; ++i) frame[i] = static_cast<char>((size >> (8 * (3 - i))) & 0xFF);
    return frame;
}

// Buffers double: a frame of 4 MB that has come to a quarter holds 1 MB.
constexpr std::size_t kTotalMax = 4'500'000;
constexpr std::size_t kLarge = 4U << 20;
constexpr std::size_t kQuarter = 1000U << 10;

class UnfinishedInput : public ::testing::Test {
protected:
    UnfinishedInput() { limits.unfinishedTotalMax = kTotalMax; }
    ~UnfinishedInput() override {
        loop.post([this] { for (auto& one : all) one->close("end of test"); });
        loop.turn(0);
        EXPECT_EQ(limits.unfinishedNow.load(), 0U);
    }

    Receiver& connect() {
        auto& one = *all.emplace_back(Ref<Receiver>::adopt(new Receiver(loop, limits)));
        loop.post([&one, number = static_cast<int>(all.size())] { one.open(std::make_unique<FedTransport>(number, one.input)); });
        loop.turn(0);
        return one;
    }
    /// In as many turns as it takes.
    void feed(Receiver& to, std::string_view bytes) {
        to.input += bytes;
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (all[i].get() != &to) continue;
            while (!to.input.empty() && to.isOpen()) {
                poller->next = static_cast<int>(i) + 1;
                loop.turn(0);
            }
        }
    }

    testkit::ManualClock clock;
    ConnectionLimits limits;
    FedPoller* const poller = new FedPoller;
    EventLoop loop{0, clock, {}, std::unique_ptr<Poller>(poller)};
    std::vector<Ref<Receiver>> all;
};

TEST_F(UnfinishedInput, TheFrameThatBeganFirstMakesRoom) {
    const auto frame = frameOf(kLarge);
    std::vector<Receiver*> slow;
    for (int i = 0; i < 4; ++i) feed(*slow.emplace_back(&connect()), std::string_view(frame).substr(0, kQuarter));
    for (auto* one : slow) ASSERT_TRUE(one->isOpen());
    auto& last = connect();
    feed(last, std::string_view(frame).substr(0, kQuarter));
    EXPECT_FALSE(slow[0]->isOpen());
    EXPECT_NE(slow[0]->why.find("4500000 bytes"), std::string::npos) << slow[0]->why;
    for (auto* one : {slow[1], slow[2], slow[3], &last}) EXPECT_TRUE(one->isOpen());
    feed(last, std::string_view(frame).substr(kQuarter));
    EXPECT_EQ(last.frames, 1U);
}

TEST_F(UnfinishedInput, OneThatAloneIsTooMuchGoesItself) {
    auto& one = connect();
    feed(one, frameOf(2 * kLarge).substr(0, kLarge + 1'000'000));
    EXPECT_FALSE(one.isOpen());
}

TEST_F(UnfinishedInput, WhoFinishesFramesIsNotTakenForSlow) {
    const auto frame = frameOf(50'000);
    auto& busy = connect();
    auto& slow = connect();
    feed(busy, std::string_view(frame).substr(0, 40'000));
    feed(slow, frameOf(kLarge).substr(0, kQuarter));
    // Each turn ends within a frame.
    for (int i = 0; i < 10; ++i) feed(busy, std::string(frame.substr(40'000)) + frame.substr(0, 40'000));
    EXPECT_EQ(busy.frames, 10U);
    for (int i = 0; i < 4; ++i) feed(connect(), frameOf(kLarge).substr(0, kQuarter));
    EXPECT_FALSE(slow.isOpen());
    EXPECT_TRUE(busy.isOpen());
}

TEST_F(UnfinishedInput, NoMoreIsCountedThanTwiceWhatHasCome) {
    const auto frame = frameOf(kLarge);
    auto& slow = connect();
    feed(slow, std::string_view(frame).substr(0, 2'000'000));
    // What they announce would be a thousand times more than may be.
    for (int i = 0; i < 500; ++i) feed(connect(), std::string_view(frame).substr(0, 15));
    EXPECT_TRUE(slow.isOpen());
    for (int i = 0; i < 10; ++i) feed(connect(), std::string_view(frame).substr(0, 10'000));
    EXPECT_TRUE(slow.isOpen());
    for (auto& one : all) ASSERT_TRUE(one->isOpen());
    const auto others = limits.unfinishedNow.load();
    auto& last = connect();
    for (std::size_t sent = 0; sent < 100'000; sent += 10'000) {
        feed(last, std::string_view(frame).substr(sent, 10'000));
        EXPECT_LE(limits.unfinishedNow.load() - others, 2 * (sent + 10'000));
    }
    ASSERT_TRUE(last.isOpen());
    feed(slow, std::string_view(frame).substr(2'000'000));
    EXPECT_EQ(slow.frames, 1U);
}

TEST_F(UnfinishedInput, RestsOfSmallFramesAreNotCounted) {
    for (int i = 0; i < 10; ++i) feed(connect(), frameOf(1000).substr(0, 900));
    EXPECT_EQ(limits.unfinishedNow.load(), 0U);
}

// Its handshake ends in receive(), after send() has been tried in vain.
struct ShakingTransport final : Transport {
    explicit ShakingTransport(std::string& to) : output(to) {}
    [[nodiscard]] int fd() const noexcept override { return 1; }
    IoResult receive(std::span<char>) noexcept override {
        shaken = true;
        return {IoResult::Kind::WouldBlock};
    }
    IoResult send(std::span<const iovec> pieces) noexcept override {
        if (!shaken) return {IoResult::Kind::WouldBlock};
        output.append(static_cast<const char*>(pieces.front().iov_base), pieces.front().iov_len);
        return {IoResult::Kind::Done, pieces.front().iov_len};
    }
    [[nodiscard]] bool sendWaitsToReceive() const noexcept override { return !shaken; }
    [[nodiscard]] bool established() const noexcept override { return shaken; }
    void endSending() noexcept override {}

    bool shaken = false;
    std::string& output;
};

TEST(AHandshake, ThatEndsWhileItIsReadLetsTheQueueGo) {
    testkit::ManualClock clock;
    ConnectionLimits limits;
    auto* const poller = new FedPoller;
    EventLoop loop(0, clock, {}, std::unique_ptr<Poller>(poller));
    std::string output;
    const auto one = Ref<Receiver>::adopt(new Receiver(loop, limits));
    loop.post([&] {
        one->open(std::make_unique<ShakingTransport>(output));
        one->writer().append(std::string_view("hello"));
        one->wrote();
    });
    loop.turn(0);
    EXPECT_EQ(output, "");
    EXPECT_FALSE(one->established());
    poller->next = 1;
    loop.turn(0);
    EXPECT_EQ(output, "hello");
    EXPECT_TRUE(one->established());
    loop.post([&] { one->close("end of test"); });
    loop.turn(0);
}

}  // namespace
}  // namespace patchbay::net
