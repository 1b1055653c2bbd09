// Proved: the book of one name server: one request at a time, and a version of its own for everything that changed.
// How: the state machine alone, step by step, in orders that threads can produce but a test of the plugin cannot force.
// Left to others: what is sent (registration_test.cpp).
#include "NameServer.h"

#include <gtest/gtest.h>

namespace patchbay::plugins::registration {
namespace {

using namespace std::chrono_literals;
using Work = NameServer::Work;

const MonotonicTime kNow(1h);
const protocol::DataVersion kVersion{5, 0, 1};

protocol::DataVersion tellAll(NameServer& server, std::int64_t& bumps) {
    server.setChunks(std::deque<protocol::TopicConfigTable>(1));
    static_cast<void>(server.takeChunk());
    return server.versionToTell(kVersion, bumps);
}

TEST(NameServerBook, AChangeWhileAllIsBeingToldAndWantedAgainMakesANewVersion) {
    NameServer server("n:1");
    std::int64_t bumps = 0;
    ASSERT_EQ(server.next(kNow), Work::All);
    server.begin(Work::All, kNow);
    server.wantAll(false);
    server.topicChanged("A");
    EXPECT_EQ(tellAll(server, bumps), kVersion);
    server.succeeded();
    ASSERT_EQ(server.next(kNow), Work::All);
    server.begin(Work::All, kNow);
    EXPECT_NE(tellAll(server, bumps), kVersion);
    EXPECT_EQ(bumps, 1);
    server.succeeded();
    EXPECT_EQ(server.next(kNow + 1h), Work::None) << "all included the change";
}

TEST(NameServerBook, WithoutAChangeTheVersionStays) {
    NameServer server("n:1");
    std::int64_t bumps = 0;
    for (int i = 0; i < 3; ++i) {
        server.wantAll(false);
        server.begin(Work::All, kNow);
        EXPECT_EQ(tellAll(server, bumps), kVersion);
        server.succeeded();
    }
    EXPECT_EQ(bumps, 0);
}

TEST(NameServerBook, OneRequestAtATimeAndNoneWhileWaiting) {
    NameServer server("n:1");
    server.begin(Work::All, kNow);
    server.topicChanged("A");
    server.wantQuery();
    EXPECT_EQ(server.next(kNow + 1h), Work::None);
    server.failed();
    EXPECT_EQ(server.next(kNow + 1h), Work::None);
    EXPECT_EQ(server.retryDelay(), 10ms);
    server.retryNow();
    EXPECT_EQ(server.next(kNow), Work::All);
    server.beginLeaving();
    EXPECT_EQ(server.next(kNow + 1h), Work::None);
}

TEST(NameServerBook, ChangesKeepTheirDistance) {
    NameServer server("n:1");
    server.begin(Work::All, kNow);
    server.succeeded();
    server.topicChanged("A");
    EXPECT_EQ(server.next(kNow + 9ms), Work::None);
    EXPECT_EQ(server.gapLeft(kNow + 9ms), 1ms);
    EXPECT_EQ(server.next(kNow + 10ms), Work::Changes);
}

TEST(NameServerBook, RetriesSlowDownToFiveSecondsAndOnlyTurnsAreWorthSaying) {
    NameServer server("n:1");
    int said = 0;
    std::chrono::milliseconds sum{};
    for (int i = 0; i < 20; ++i) {
        server.begin(Work::All, kNow);
        if (server.failed() == NameServer::Turn::Down) ++said;
        EXPECT_LE(server.retryDelay(), 5s);
        if (i < 6) sum += server.retryDelay();
        server.retryNow();
    }
    EXPECT_EQ(said, 1);
    EXPECT_EQ(sum, 230ms);
    server.begin(Work::All, kNow);
    EXPECT_EQ(server.succeeded(), NameServer::Turn::Up);
    server.begin(Work::All, kNow);
    EXPECT_EQ(server.succeeded(), NameServer::Turn::Same);
    server.begin(Work::All, kNow);
    EXPECT_EQ(server.failed(), NameServer::Turn::Down);
}

}  // namespace
}  // namespace patchbay::plugins::registration
