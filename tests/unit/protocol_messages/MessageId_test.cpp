// Proves the text of both kinds of message ids, and that made ids are unique across threads.
// How: known ids, a clock that is set by hand, four threads into one set.
// Left to others: ids in recorded answers (GoldenRecords_test).
#include "patchbay/protocol/message/MessageId.h"

#include <gtest/gtest.h>

#include <mutex>
#include <set>
#include <thread>

namespace patchbay::protocol {
namespace {

class FixedClock final : public Clock {
public:
    [[nodiscard]] MonotonicTime now() const noexcept override { return {}; }
    [[nodiscard]] std::int64_t wallMs() const noexcept override { return wall; }
    std::int64_t wall = 0;
};

TEST(MessageId, HoldsHostAndOffset) {
    const MessageId id{SocketAddress::v4({127, 0, 0, 1}, 22411), 0x31A31};
    EXPECT_EQ(id.toString(), "7F0000010000578B0000000000031A31");
    const auto parsed = MessageId::parse("7f0000010000578b0000000000031a31");
    ASSERT_TRUE(parsed.has_value());
    EXPECT_EQ(parsed->storeHost, id.storeHost);
    EXPECT_EQ(parsed->physicalOffset, 0x31A31);
}

TEST(MessageId, OfAnIpv6HostHas56Digits) {
    const MessageId id{SocketAddress::v6({0x20, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, 10911), 5};
    EXPECT_EQ(id.toString(), "2001000000000000000000000000000100002A9F0000000000000005");
    const auto parsed = MessageId::parse(id.toString());
    ASSERT_TRUE(parsed.has_value());
    EXPECT_EQ(parsed->storeHost, id.storeHost);
    EXPECT_EQ(parsed->physicalOffset, 5);
}

TEST(MessageId, RefusesWhatIsNone) {
    for (const char* text : {"", "7F", "7F0000010000578B0000000000031A3G", "7F0000010000578B0000000000031A311",
                             "7F000001FFFFFFFF0000000000031A31", "7F000001000100000000000000031A31"}) {
        EXPECT_EQ(MessageId::parse(text).error().code(), StatusCode::InvalidArgument) << text;
    }
}

TEST(UniqueId, HoldsAddressProcessDiscriminatorTimeAndCounter) {
    FixedClock clock;
    clock.wall = 1'795'973'174'182;  // 2026-11-29 17:26:14.182 UTC
    UniqueIdGenerator ids(clock, SocketAddress::v4({192, 168, 1, 187}, 0), 0x12345, 0xCAFE);
    EXPECT_EQ(ids.next(), "C0A801BB23450000CAFE93EFEBA60000");
    EXPECT_EQ(ids.next(), "C0A801BB23450000CAFE93EFEBA60001");
    UniqueIdGenerator wide(clock, SocketAddress::v6({}, 0), 1, 2);
    EXPECT_EQ(wide.next().size(), kMessageIdCharsV6);
}

TEST(UniqueId, TimeStartsAgainWithEachMonth) {
    FixedClock clock;
    clock.wall = 1'796'083'200'000;  // 2026-12-01 00:00 UTC
    UniqueIdGenerator ids(clock, SocketAddress::v4({1, 2, 3, 4}, 0), 1, 1);
    EXPECT_EQ(ids.next().substr(20, 8), "00000000");
    clock.wall -= 1;
    EXPECT_EQ(ids.next().substr(20, 8), "9A7EC7FF") << "30 days less a millisecond";
}

TEST(UniqueId, IsUniqueAcrossThreads) {
    FixedClock clock;
    UniqueIdGenerator ids(clock, SocketAddress::v4({1, 2, 3, 4}, 0), 1, 1);
    std::mutex mutex;
    std::set<std::string> seen;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&] {
            for (int i = 0; i < 2000; ++i) {
                std::string id = ids.next();
                const std::lock_guard lock(mutex);
                seen.insert(std::move(id));
            }
        });
    }
    for (auto& thread : threads)
        thread.join();
    EXPECT_EQ(seen.size(), 8000u);
}

}  // namespace
}  // namespace patchbay::protocol
