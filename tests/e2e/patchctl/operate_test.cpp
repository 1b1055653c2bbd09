// Proves: what misled an operator does not any more: ports for administration alone, groups that were deleted, plugins without which nobody finds the
// broker, and one rate without the other.
// How: the built patchctl against brokers with each store. Left to others: what the commands do on a good day (patchctl_test).
#include "PatchctlFixture.h"

namespace patchbay::test {
namespace {

class PatchctlOperate : public PatchctlOnStore {};

TEST_P(PatchctlOperate, APortForAdministrationNamesTheBrokerThatIsMeant) {
    BrokerProcess broker("adminListenPort = 0\n" + onStore(GetParam()));
    ASSERT_TRUE(broker.start()) << broker.output();
    const std::string at = " -b 127.0.0.1:" + std::to_string(broker.adminPort()) + " -n 127.0.0.1:" + std::to_string(broker.namesrvPort());
    int tries = 0;
    while (shell("topic create CtlPort --queues 1" + at).exit != 0 && shell("topic show CtlPort" + at).exit != 0) ASSERT_LT(++tries, 200) << broker.output();
    std::string text;
    const auto sent = parsed("message send CtlPort --body 'by the other port' --keys k" + at, text);
    const auto id = (*sent.root().begin()).value["id"].text().value_or("");
    EXPECT_NE(done("message get CtlPort --key k" + at).find("by the other port"), std::string::npos);
    EXPECT_NE(done("message get CtlPort " + id + at).find("by the other port"), std::string::npos);
    EXPECT_NE(done("message get CtlPort" + at).find("by the other port"), std::string::npos);
    const auto wrong = shell("topic list -b 127.0.0.1:" + std::to_string(broker.brokerPort()));
    EXPECT_EQ(wrong.exit, 0) << "tables are there: " << wrong.out;
    const auto other = shell("config get listenPort -b 127.0.0.1:" + std::to_string(broker.brokerPort()));
    EXPECT_EQ(other.exit, 1);
    EXPECT_NE(other.out.find("but on that of the listener 'admin'"), std::string::npos) << other.out;
    EXPECT_EQ(broker.stop(SIGTERM), 0) << broker.output();
}

TEST_P(PatchctlOperate, GroupsThatWereDeletedDoNotCount) {
    done("topic create CtlLeft --queues 1");
    for (const char* group : {"CtlLeftKept", "CtlLeftGone"}) {
        done(std::string("group create ") + group);
        done(std::string("offset reset ") + group + " --topic CtlLeft --to first");
    }
    done("group delete CtlLeftGone --keep-offsets");
    const std::string shown = done("topic groups CtlLeft");
    EXPECT_NE(shown.find("CtlLeftKept"), std::string::npos) << shown;
    EXPECT_EQ(shown.find("CtlLeftGone"), std::string::npos) << shown;
    EXPECT_NE(shown.find("left out: 1 group that was deleted and left offsets; --all shows it"), std::string::npos) << shown;
    EXPECT_NE(done("topic groups CtlLeft --all").find("CtlLeftGone"), std::string::npos);
    EXPECT_NE(done("topic delete CtlLeft --dry-run --json").find("\"groups\":\"CtlLeftKept\""), std::string::npos);
}

TEST_P(PatchctlOperate, ABrokerIsNotIsolatedWithoutAWord) {
    BrokerProcess broker(onStore(GetParam()));
    ASSERT_TRUE(broker.start()) << broker.output();
    const std::string at = " -b 127.0.0.1:" + std::to_string(broker.brokerPort());
    const auto refused = shell("plugin disable registration" + at);
    EXPECT_EQ(refused.exit, 1) << refused.out;
    EXPECT_NE(refused.out.find("the name servers forget this broker"), std::string::npos) << refused.out;
    EXPECT_NE(done("plugin disable registration --dry-run" + at).find("it wants --force"), std::string::npos);
    EXPECT_NE(done("plugin list" + at).find("registration"), std::string::npos);
    EXPECT_NE(done("plugin disable registration --force" + at).find("the way back is 'patchctl plugin enable registration" + at + "'"), std::string::npos);
    done("plugin enable registration" + at);
    EXPECT_EQ(broker.stop(SIGTERM), 0) << broker.output();
}

TEST_P(PatchctlOperate, ATopicIsReadAndMeasured) {
    done("topic create CtlRead --queues 3");
    EXPECT_NE(done("bench pull CtlRead --json").find("\"messages\":0,\"failed\":0"), std::string::npos) << "there is nothing";
    done("bench send CtlRead --threads 2 --messages 200 --size 100 --seconds 30");
    const std::string text = done("bench pull CtlRead --threads 2 --json");
    EXPECT_NE(text.find("\"messages\":200,\"failed\":0"), std::string::npos) << text;
    for (const char* member : {"seconds", "messagesPerSecond", "bytesPerSecond", "p50Us", "p99Us", "p999Us", "maxUs"}) {
        EXPECT_NE(text.find(std::string("\"") + member + "\":"), std::string::npos) << member << " in " << text;
    }
    EXPECT_NE(done("bench pull CtlRead --from end --seconds 1 --json").find("\"messages\":0,"), std::string::npos) << "nothing came";
    EXPECT_EQ(shell("bench pull CtlNothing").exit, 3);
}

INSTANTIATE_TEST_SUITE_P(Mmap, PatchctlOperate, ::testing::Values("storage-mmap"));
INSTANTIATE_TEST_SUITE_P(Sqlite, PatchctlOperate, ::testing::Values("storage-sqlite"));

}  // namespace
}  // namespace patchbay::test
