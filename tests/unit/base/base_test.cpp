// Proves statuses, addresses, slices and clocks: the texts that people see and the lifetimes that others rely on.
// How: values in, texts out; a counted object that says when it ends.
// Left to others: files (files_test).
#include "patchbay/base/Clock.h"
#include "patchbay/base/Result.h"
#include "patchbay/base/Slice.h"
#include "patchbay/base/SocketAddress.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace patchbay {
namespace {

TEST(Statuses, SayWhatHappenedAndWhere) {
    EXPECT_EQ(Status::ok().toString(), "Ok");
    EXPECT_EQ(Status(StatusCode::NotFound, "topic 't' does not exist").toString(),
              "NotFound: topic 't' does not exist");
    EXPECT_EQ(toString(StatusCode::DeadlineExceeded), "DeadlineExceeded");
    EXPECT_EQ(toString(static_cast<StatusCode>(200)), "Unknown");
}

TEST(Results, HoldAValueOrAReason) {
    const Result<int> good = 5;
    const Result<int> bad = Status(StatusCode::Busy, "later");
    EXPECT_TRUE(good);
    EXPECT_EQ(*good, 5);
    EXPECT_FALSE(bad);
    EXPECT_EQ(bad.value_or(7), 7);
    EXPECT_EQ(bad.error().code(), StatusCode::Busy);
}

TEST(ResultsDeathTest, EndTheProcessWhenAskedForAValueThatIsNotThere) {
    const Result<int> bad = Status(StatusCode::Busy, "later");
    EXPECT_DEATH(static_cast<void>(bad.value()), "assertion failed: has_value");
}

TEST(SocketAddresses, AreReadAndWrittenAlike) {
    for (const char* text : {"127.0.0.1:10911", "0.0.0.0:0", "255.255.255.255:65535", "[::1]:9876", "[fe80::1]:1"}) {
        const Result<SocketAddress> address = SocketAddress::parse(text);
        ASSERT_TRUE(address) << text;
        EXPECT_EQ(address->toString(), text);
    }
    const SocketAddress v4 = SocketAddress::v4({10, 0, 0, 7}, 80);
    EXPECT_EQ(v4.toString(), "10.0.0.7:80");
    EXPECT_EQ(v4.ipBytes(), std::string("\x0A\x00\x00\x07", 4));
    EXPECT_EQ(v4.ipText(), "10.0.0.7");
    EXPECT_EQ(SocketAddress::parse("10.0.0.7:80").value(), v4);
    EXPECT_EQ(SocketAddress::parse("[::1]:80").value().ipBytes().size(), 16U);
}

TEST(SocketAddresses, AreRefusedWhenTheyAreNotNumbers) {
    for (const char* text :
         {"", ":", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1: 1", "127.0.0.1:1x",
          "localhost:1", "1.2.3:4", "::1:80", "[::1]", "[::1:80", "[127.0.0.1]:1", "[]:1"}) {
        EXPECT_EQ(SocketAddress::parse(text).error().code(), StatusCode::InvalidArgument) << text;
    }
    std::string endless(1000, '1');
    endless += ":1";
    EXPECT_FALSE(SocketAddress::parse(endless));
}

class Counted : public RefCounted {
public:
    explicit Counted(int& ended) : ended_(ended) {}
    ~Counted() override { ++ended_; }

private:
    int& ended_;
};

TEST(References, EndTheObjectWithTheLastOne) {
    int ended = 0;
    Ref<Counted> first = Ref<Counted>::adopt(new Counted(ended));
    EXPECT_TRUE(first->unique());
    Ref<Counted> second = first;
    EXPECT_FALSE(first->unique());
    KeepAlive third = std::move(second);
    first.reset();
    EXPECT_EQ(ended, 0);
    third.reset();
    EXPECT_EQ(ended, 1);
}

TEST(Slices, OwnWhatTheyWereGiven) {
    Slice slice;
    {
        std::string text(100, 'x');
        slice = Slice::copyOf(text);
        text.assign(100, 'y');
    }
    const Slice other = slice;
    slice = Slice::own("short");
    EXPECT_EQ(other.bytes, std::string(100, 'x'));
    EXPECT_EQ(slice.bytes, "short");
}

TEST(SystemClock, NeverGoesBackAndKnowsTheYear) {
    const MonotonicTime before = systemClock().now();
    EXPECT_GE(systemClock().now(), before);
    EXPECT_GT(systemClock().wallMs(), 1'700'000'000'000);
}

}  // namespace
}  // namespace patchbay
