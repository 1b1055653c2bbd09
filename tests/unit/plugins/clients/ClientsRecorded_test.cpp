// Proved: heartbeats, unregistration, member lists and queue locks are answered as a Java broker answered them.
// How: recorded requests are replayed in their order against the plugin, and answers and pushes compared.
// Left to others: what the answers mean (Clients_test, QueueLocks_test).
#include "ClientsBench.h"

#include <set>

namespace patchbay::plugins::clients {
namespace {

std::size_t replay(ClientsBench& bench, const std::string& scenario, const std::set<int>& codes) {
    std::size_t replayed = 0;
    for (const auto& pair : recorded::pairs(scenario)) {
        if (pair.role != "client->broker" || !codes.contains(pair.request.code) || !pair.response) continue;
        recorded::expectSameAnswer(bench.context, pair);
        ++replayed;
    }
    return replayed;
}

TEST(ClientsRecorded, HeartbeatsAndMemberListsAreAnsweredAsRecorded) {
    ClientsBench bench;
    EXPECT_EQ(replay(bench, "raw-heartbeat", {34, 35, 38}), 14U);
}

TEST(ClientsRecorded, QueueLocksAreAnsweredAsRecorded) {
    ClientsBench bench;
    EXPECT_EQ(replay(bench, "raw-lock", {41, 42}), 10U);
}

TEST(ClientsRecorded, TheNoticeOfAChangedGroupLooksAsRecorded) {
    ClientsBench bench;
    const auto peer = bench.context.peer();
    testkit::CallOptions options;
    options.peer = peer;
    std::size_t pushed = 0;
    for (const auto& pair : recorded::pairs("raw-heartbeat")) {
        if (pair.request.code == 34) bench.context.send(pair.request, options);
        if (pair.role != "broker->client") continue;
        ASSERT_GT(peer->pushed().size(), pushed);
        const auto ours = peer->pushed()[pushed++];
        EXPECT_EQ(ours.code, pair.request.code);
        EXPECT_EQ(ours.fields, pair.request.fields);
        EXPECT_EQ(ours.body, pair.request.body);
        EXPECT_EQ(ours.isOneway(), pair.request.isOneway());
    }
    EXPECT_EQ(pushed, 1U);
    EXPECT_EQ(peer->pushed().size(), 1U);
}

}  // namespace
}  // namespace patchbay::plugins::clients
