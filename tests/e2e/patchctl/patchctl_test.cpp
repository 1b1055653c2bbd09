// Proves: every command of patchctl does at a broker what it says, in tables and in JSON, with the exit codes that are documented.
// How: the built patchctl as a process against one broker with each store. Left to others: parsing, help and layout (unit_patchctl), clusters of several brokers.
#include "PatchctlFixture.h"
#include "support/Heartbeats.h"

#include "patchbay/protocol/headers/SendMessage.h"
#include "patchbay/protocol/message/MessageId.h"
#include "patchbay/protocol/route/Heartbeat.h"

#include <filesystem>
#include <fstream>
#include <future>
#include <map>
#include <sstream>

namespace patchbay::test {
namespace {

std::string readFile(const std::string& path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

TEST_P(PatchctlOnStore, TopicsAreCreatedShownChangedAndDeleted) {
    EXPECT_NE(done("topic create CtlTopic --queues 3 --type FIFO").find("created"), std::string::npos);
    EXPECT_EQ(shell("topic create CtlTopic").exit, 1) << "it exists";
    std::string text;
    auto list = parsed("topic list", text);
    const auto topic = row(list, "topic", "CtlTopic");
    EXPECT_EQ(topic["readQueues"].integer(), 3);
    EXPECT_EQ(topic["perm"].text(), "RW-");
    EXPECT_EQ(topic["type"].text(), "FIFO");
    done("message send CtlTopic --body x --queue 2 --count 4");
    EXPECT_NE(done("topic set CtlTopic --queues 2 --dry-run").find("would be changed; 4 messages in queues from 2 on would not be read"), std::string::npos);
    EXPECT_EQ(row(parsed("topic list", text), "topic", "CtlTopic")["readQueues"].integer(), 3) << "nothing was changed";
    EXPECT_EQ(shell("topic set CtlTopic").exit, 2);
    EXPECT_EQ(shell("topic create CtlNoQueues --queues 0").exit, 2) << "nobody could write to it";
    for (const char* perm : {"8", "255", "-1"}) {
        EXPECT_EQ(shell(std::string("topic create CtlNoPerm --perm=") + perm).exit, 2) << "as RocketMQ's tools; its broker stores what it is given";
        EXPECT_EQ(shell(std::string("topic set CtlTopic --perm=") + perm).exit, 2);
    }
    EXPECT_EQ(shell("topic delete TBW102 --dry-run").exit, 1) << "a dry run promises nothing that is then refused";
    EXPECT_FALSE(row(list, "topic", "TBW102").exists());
    EXPECT_NE(done("topic list --all").find("TBW102"), std::string::npos);
    done("topic set CtlTopic --perm 4 --queues 5");
    list = parsed("topic list", text);
    EXPECT_EQ(row(list, "topic", "CtlTopic")["perm"].text(), "R--");
    EXPECT_EQ(row(list, "topic", "CtlTopic")["writeQueues"].integer(), 5);
    EXPECT_EQ(parsed("topic show CtlTopic", text).root().size(), 5U);
    EXPECT_EQ(shell("topic show CtlNothing").exit, 3);
    EXPECT_EQ(shell("topic set CtlNothing --perm 6").exit, 3);
    EXPECT_NE(done("topic delete CtlTopic --dry-run --json").find("\"deleted\":false"), std::string::npos);
    EXPECT_EQ(shell("topic show CtlTopic").exit, 0) << "nothing was deleted";
    EXPECT_NE(done("topic delete CtlTopic --json").find("\"deleted\":true"), std::string::npos);
    EXPECT_EQ(shell("topic show CtlTopic").exit, 3);
    EXPECT_EQ(shell("topic create 'no name!'").exit, 1);
}

TEST_P(PatchctlOnStore, RoutesAreShown) {
    done("topic create CtlRoute --queues 2");
    std::string text;
    const auto route = parsed("route CtlRoute", text);
    ASSERT_EQ(route.root().size(), 1U) << text;
    EXPECT_NE(text.find("\"address\":\"127.0.0.1:" + std::to_string(broker_->brokerPort())), std::string::npos) << text;
    EXPECT_EQ(shell("route CtlNothing").exit, 3);
}

TEST_P(PatchctlOnStore, MessagesAreSentAndFoundByIdKeyAndTime) {
    done("topic create CtlMessages --queues 2");
    std::string text;
    const auto sent = parsed("message send CtlMessages --body 'first body' --tags TagA --keys 'k1 k2' -P color=red", text);
    ASSERT_EQ(sent.root().size(), 1U) << text;
    const auto row = (*sent.root().begin()).value;
    EXPECT_EQ(row["status"].text(), "stored");
    const std::string id = row["id"].text().value_or("");
    EXPECT_NE(done("message get CtlMessages " + id).find("first body"), std::string::npos);
    EXPECT_NE(done("message get CtlMessages " + row["offsetId"].text().value_or("")).find("first body"), std::string::npos);
    std::string found = done("message get CtlMessages --key k2 --json");
    EXPECT_NE(found.find("\"color\":\"red\""), std::string::npos) << found;
    EXPECT_NE(found.find("\"tags\":\"TagA\""), std::string::npos) << found;
    EXPECT_NE(done("message get CtlMessages --begin -1h").find("first body"), std::string::npos);
    EXPECT_EQ(shell("message get CtlMessages --begin -2h --end -1h").exit, 3);
    EXPECT_EQ(shell("message get CtlMessages --key nobody").exit, 3);
    EXPECT_EQ(shell("message send CtlNothing --body x").exit, 3) << "a topic is not made by a slip of the pen";
    EXPECT_EQ(shell("message send CtlMessages").exit, 2) << "nothing to send";
    EXPECT_EQ(shell("message send CtlMessages --body x -P nothing").exit, 2);
    EXPECT_EQ(shell("message tail CtlMessages -P nothing").exit, 2);
    EXPECT_EQ(shell("message get CtlMessages --begin sometime").exit, 2);
    EXPECT_EQ(shell("message replay CtlNobody --begin sometime").exit, 2);
    EXPECT_EQ(shell("message send CtlMessages --file /nonexistent").exit, 3);
    for (const char* by : {"--key k2", "--begin -1h"}) {
        EXPECT_EQ(done("message get CtlMessages --json " + std::string(by)).find("\"broker\":\"\""), std::string::npos) << "the broker is named";
    }
    EXPECT_EQ(found.find("bodyBase64"), std::string::npos) << "it is text";
    EXPECT_EQ(done("message get CtlMessages").find("there may be more"), std::string::npos);
    EXPECT_NE(done("message get CtlMessages --max 1").find("ended after 1 message; there may be more"), std::string::npos);
    const std::string file = broker_->folder() / "bytes";
    std::ofstream(file, std::ios::binary) << "\xff\xfe\xfd";
    done("message send CtlMessages --keys bytes --file " + file);
    found = done("message get CtlMessages --key bytes --json");
    EXPECT_NE(found.find("\"bodyBase64\":\"//79\""), std::string::npos) << found;
}

TEST_P(PatchctlOnStore, TheTailOfATopicIsFiltered) {
    done("topic create CtlTail --queues 1");
    done("message send CtlTail --body one --tags A --count 3");
    done("message send CtlTail --body two --tags B --keys kk -P p=q");
    EXPECT_EQ(done("message tail CtlTail --json").find("two") == std::string::npos, false);
    const auto lines = [](const std::string& text) { return std::count(text.begin(), text.end(), '\n'); };
    EXPECT_EQ(lines(done("message tail CtlTail --json")), 4);
    EXPECT_EQ(lines(done("message tail CtlTail --json --lines 2")), 2);
    EXPECT_EQ(lines(done("message tail CtlTail --json --tags A")), 3);
    EXPECT_EQ(lines(done("message tail CtlTail --json --grep tw")), 1);
    EXPECT_EQ(lines(done("message tail CtlTail --json --key kk")), 1);
    EXPECT_EQ(lines(done("message tail CtlTail --json -P p=q")), 1);
    EXPECT_EQ(lines(done("message tail CtlTail --json -f --count 2")), 2);
    EXPECT_EQ(shell("message tail CtlNothing").exit, 3);
}

TEST_P(PatchctlOnStore, DeadLettersAreSentAgain) {
    done("topic create CtlDead --queues 1");
    done("group create CtlDeadGroup");
    std::string text;
    const auto sent = parsed("message send CtlDead --body 'did not work' --tags T", text);
    const auto id = protocol::MessageId::parse((*sent.root().begin()).value["offsetId"].text().value_or(""));
    ASSERT_TRUE(id) << text;
    // What a consumer does that gives up: level -1 is the dead-letter topic at once.
    RawClient client(broker_->brokerPort());
    protocol::ConsumerSendMsgBackRequest back;
    back.offset = id->physicalOffset;
    back.group = "CtlDeadGroup";
    back.delayLevel = -1;
    back.originTopic = "CtlDead";
    auto command = protocol::RemotingCommand::request(protocol::RequestCode::ConsumerSendMsgBack);
    command.setHeader(back);
    const auto answered = client.call(std::move(command));
    ASSERT_TRUE(answered);
    ASSERT_EQ(answered->code, 0) << answered->remark.value_or("");
    // The name server has to hear of the new topic first.
    Ran dry;
    for (int i = 0; i < 100; ++i) {
        dry = shell("message replay CtlDeadGroup --dry-run --json");
        if (dry.exit == 0 && dry.out.find("CtlDead\"") != std::string::npos) break;
    }
    EXPECT_NE(dry.out.find("\"topic\":\"CtlDead\",\"messages\":1,\"sent\":false"), std::string::npos) << dry.out;
    EXPECT_NE(done("message replay CtlDeadGroup --json").find("\"sent\":true"), std::string::npos);
    const std::string all = done("message tail CtlDead --json");
    EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 2) << all;
    EXPECT_EQ(all.find("RETRY_TOPIC"), std::string::npos) << all;
    EXPECT_EQ(shell("message replay CtlDeadGroup --to CtlNothing --dry-run").exit, 3) << "a dry run promises nothing that is then refused";
    for (const char* line : {"message replay CtlNobody", "message get %DLQ%CtlNobody", "message tail %DLQ%CtlNobody"}) {
        const auto none = shell(line);
        EXPECT_EQ(none.exit, 3);
        EXPECT_NE(none.out.find("group 'CtlNobody' has no dead letters"), std::string::npos) << none.out;
    }
}

TEST_P(PatchctlOnStore, GroupsAreCreatedShownChangedAndDeleted) {
    done("group create CtlGroup --retry-max 5");
    EXPECT_EQ(shell("group create CtlGroup").exit, 1) << "it exists";
    std::string text;
    EXPECT_EQ(row(parsed("group list", text), "group", "CtlGroup")["retryMax"].integer(), 5);
    done("group set CtlGroup --consume no");
    const auto list = parsed("group list", text);
    EXPECT_EQ(row(list, "group", "CtlGroup")["consume"].boolean(), false);
    EXPECT_EQ(row(list, "group", "CtlGroup")["retryMax"].integer(), 5) << "what no option names stays";
    EXPECT_EQ(shell("group set CtlNobody --consume no").exit, 3);
    done("group set CtlGroup --orderly yes --retry-queues 3");
    const std::string shown = done("group show CtlGroup");
    EXPECT_NE(shown.find("tries 5, 3 retry queues, consume no, broadcast yes, orderly yes\nno member is connected"), std::string::npos) << shown;
    EXPECT_EQ(done("group show CtlGroup --json"), "[]\n");
    EXPECT_EQ(row(parsed("group list", text), "group", "CtlGroup")["orderly"].boolean(), true);
    EXPECT_NE(shell("group show CtlNobody").out.find("there is no group 'CtlNobody'"), std::string::npos);
    EXPECT_EQ(shell("group show CtlNobody").exit, 3);
    EXPECT_EQ(shell("group client CtlGroup c@1").exit, 3);
    done("group delete CtlGroup --dry-run");
    EXPECT_TRUE(row(parsed("group list", text), "group", "CtlGroup").exists());
    done("group delete CtlGroup");
    EXPECT_FALSE(row(parsed("group list", text), "group", "CtlGroup").exists());
}

TEST_P(PatchctlOnStore, MembersOfAGroupAreShown) {
    done("topic create CtlOnline");
    RawClient client(broker_->brokerPort());
    protocol::HeartbeatData beat;
    beat.clientId = "c@1";
    beat.producerGroups = {"CtlProducers"};
    protocol::ConsumerData consumer;
    consumer.groupName = "CtlOnlineGroup";
    consumer.consumeType = protocol::ConsumeType::Passively;
    consumer.messageModel = protocol::MessageModel::Clustering;
    consumer.subscriptionDataSet.push_back(*protocol::SubscriptionData::build("CtlOnline", "TagA"));
    beat.consumerDataSet.push_back(consumer);
    auto command = protocol::RemotingCommand::request(protocol::RequestCode::HeartBeat);
    command.body = beat.toJson();
    ASSERT_EQ(client.call(std::move(command))->code, 0);
    Ran shown;
    for (int i = 0; i < 100 && shown.exit != 0; ++i) shown = shell("group show CtlOnlineGroup --json");
    EXPECT_NE(shown.out.find("\"client\":\"c@1\""), std::string::npos) << shown.out;
    EXPECT_NE(shown.out.find("CtlOnline (TagA)"), std::string::npos) << shown.out;
    EXPECT_NE(done("topic groups CtlOnline --json").find("\"group\":\"CtlOnlineGroup\",\"members\":1"), std::string::npos);
    EXPECT_NE(done("broker producers --json").find("\"group\":\"CtlProducers\",\"client\":\"c@1\""), std::string::npos);
}

TEST_P(PatchctlOnStore, OffsetsAreShownResetAndCloned) {
    done("topic create CtlOffsets --queues 1");
    done("group create CtlOffsetsA");
    done("group create CtlOffsetsB");
    done("message send CtlOffsets --body x --count 5");
    EXPECT_NE(done("offset reset CtlOffsetsA --topic CtlOffsets --to last --dry-run --json").find("\"to\":5"), std::string::npos);
    EXPECT_EQ(shell("offset show CtlOffsetsA --topic CtlOffsets --json").out.find("\"committed\":5"), std::string::npos) << "only tried";
    done("offset reset CtlOffsetsA --topic CtlOffsets --to 3 --queue 0");
    EXPECT_NE(done("offset show CtlOffsetsA --topic CtlOffsets --json").find("\"end\":5,\"committed\":3,\"behind\":2"), std::string::npos);
    done("offset clone CtlOffsetsA CtlOffsetsB --topic CtlOffsets");
    EXPECT_NE(done("offset show CtlOffsetsB --topic CtlOffsets --json").find("\"committed\":3"), std::string::npos);
    EXPECT_NE(done("offset reset CtlOffsetsA --topic CtlOffsets --to first --json").find("\"again\":3"), std::string::npos);
    EXPECT_EQ(shell("offset reset CtlOffsetsA --to last").exit, 2) << "no topic";
    EXPECT_EQ(shell("offset reset CtlOffsetsA --topic CtlOffsets --to sometime").exit, 2);
    EXPECT_EQ(shell("offset reset CtlNobody --topic CtlOffsets --dry-run").exit, 3) << "a dry run promises nothing that is then refused";
    EXPECT_EQ(shell("offset clone CtlOffsetsA CtlNobody --topic CtlOffsets --dry-run").exit, 3);
}

TEST_P(PatchctlOnStore, OffsetsThatCannotBeMeantAreNotSet) {
    done("topic create CtlOutside --queues 2");
    done("group create CtlOutsideGroup");
    done("message send CtlOutside --body x --count 5 --queue 0");
    done("message send CtlOutside --body x --count 3 --queue 1");
    const std::string reset = "offset reset CtlOutsideGroup --topic CtlOutside ";
    done(reset + "--to 4 --queue 0");
    for (const char* number : {"--to 2", "--to 1700000000"}) {
        const auto ran = shell(reset + number);
        EXPECT_EQ(ran.exit, 2) << "neither an offset nor a time: " << ran.out;
    }
    EXPECT_EQ(shell(reset + "--to=-5 --queue 0").exit, 2);
    const auto beyond = shell(reset + "--to 99 --queue 0");
    EXPECT_EQ(beyond.exit, 1);
    EXPECT_NE(beyond.out.find("goes from 0 to 5, and 99 lies outside; --force sets it"), std::string::npos) << beyond.out;
    EXPECT_NE(done("offset show CtlOutsideGroup --topic CtlOutside --json").find("\"committed\":4"), std::string::npos) << "nothing was set";
    EXPECT_NE(done(reset + "--to 99 --queue 0 --force --json").find("\"skipped\":1}"), std::string::npos);
    done(reset + "--to 0 --queue 1");
    const std::string shown = done("offset show CtlOutsideGroup --topic CtlOutside");
    EXPECT_NE(shown.find("3 messages behind\n1 queue with an offset beyond the end"), std::string::npos) << shown;
    EXPECT_NE(done("topic groups CtlOutside --json").find("\"behind\":3"), std::string::npos);
    EXPECT_NE(done("why-stuck CtlOutsideGroup").find("its offset 99 lies beyond the end, 5"), std::string::npos);
}

TEST_P(PatchctlOnStore, ClustersAndBrokersAreShown) {
    std::string text;
    const auto list = parsed("cluster list", text);
    ASSERT_EQ(list.root().size(), 1U) << text;
    EXPECT_NE(text.find("\"version\":\"V5_3_3\""), std::string::npos) << text;
    EXPECT_NE(done("broker status --json").find("\"brokerActive\":\"true\""), std::string::npos);
    EXPECT_EQ(shell("broker status --broker nobody").exit, 3);
    EXPECT_EQ(shell("cluster list --cluster nowhere").exit, 3);
    EXPECT_EQ(shell("cluster list --namesrv 127.0.0.1:1").exit, 4) << "nobody answers there";
    done("topic create CtlFence");
    const std::string name = (*list.root().begin()).value["broker"].text().value_or("");
    EXPECT_EQ(shell("broker fence nobody --dry-run").exit, 3);
    EXPECT_EQ(shell("broker fence nobody").exit, 3);
    done("broker fence " + name + " --dry-run");
    EXPECT_NE(done("route CtlFence --json").find("\"perm\":\"RW-\""), std::string::npos);
    done("broker fence " + name);
    EXPECT_NE(done("route CtlFence --json").find("\"perm\":\"R--\""), std::string::npos);
    done("broker unfence " + name);
    EXPECT_NE(done("route CtlFence --json").find("\"perm\":\"RW-\""), std::string::npos);
}

TEST_P(PatchctlOnStore, MembersAreSeenAndToldThroughAPortForAdministrationAlone) {
    BrokerProcess other("adminListenPort = 0\n" + onStore(GetParam()));
    ASSERT_TRUE(other.start()) << other.output();
    const std::string at = " -n 127.0.0.1:" + std::to_string(other.namesrvPort());
    const std::string admin = at + " -b 127.0.0.1:" + std::to_string(other.adminPort());
    int tries = 0;
    while (shell("topic create CtlAdmin --queues 1" + admin).exit == 3) ASSERT_LT(++tries, 200) << other.output();
    done("message send CtlAdmin --body a --count 2" + at);
    done("group create CtlAdminGroup" + admin);
    const std::string reset = "offset reset CtlAdminGroup --topic CtlAdmin --to ";
    done(reset + "last" + at);
    RawClient member(other.brokerPort());
    const auto command = heartbeatRequest(consumerHeartbeat("admin@1", "CtlAdminGroup", "CtlAdmin"));
    ASSERT_EQ(member.call(command)->code, 0);
    EXPECT_NE(done("group list --json" + admin).find("\"members\":1"), std::string::npos);
    const auto refused = shell(reset + "first" + at);
    EXPECT_EQ(refused.exit, 4) << refused.out;
    EXPECT_NE(refused.out.find("adminListenPort"), std::string::npos) << refused.out;
    EXPECT_NE(done("offset show CtlAdminGroup --topic CtlAdmin --json" + admin).find("\"behind\":0"), std::string::npos);
    done(reset + "first" + admin);
    EXPECT_NE(done("offset show CtlAdminGroup --topic CtlAdmin --json" + admin).find("\"behind\":2"), std::string::npos);
    EXPECT_EQ(other.stop(SIGTERM), 0) << other.output();
}

TEST_P(PatchctlOnStore, WhatIsLimitedToABrokerLeavesTheOthersAlone) {
    BrokerProcess other("brokerName = ctl-b\nnamesrvAddr = 127.0.0.1:" + std::to_string(broker_->namesrvPort()) + "\n" + onStore(GetParam()));
    ASSERT_TRUE(other.start()) << other.output();
    int tries = 0;
    while (shell("topic create CtlTwoReady -b ctl-b").exit == 3) ASSERT_LT(++tries, 200) << other.output();
    std::string text;
    std::string first;
    const auto list = parsed("cluster list", text);
    for (const auto item : list.root()) {
        if (const auto name = item.value["broker"].text().value_or(""); name != "ctl-b") first = name;
    }
    ASSERT_FALSE(first.empty()) << text;
    done("topic create CtlTwo --queues 1");
    const std::string address = "127.0.0.1:" + std::to_string(other.brokerPort());
    done("message send CtlTwo --body b --count 4 -b ctl-b --keys two");
    done("message send CtlTwo --body a --count 2 --keys two -b " + first);
    const auto messages = [](const std::string& broker) { return done("topic show CtlTwo --json -b " + broker); };
    EXPECT_NE(messages(first).find("\"messages\":2"), std::string::npos) << "sent only where it was to be sent";
    EXPECT_NE(messages("ctl-b").find("\"messages\":4"), std::string::npos);
    const auto lines = [](const std::string& out) { return std::count(out.begin(), out.end(), '\n'); };
    EXPECT_EQ(lines(done("message tail CtlTwo --json")), 6);
    for (const std::string& only : {std::string("ctl-b"), address}) {
        EXPECT_EQ(lines(done("message tail CtlTwo --json -b " + only)), 4);
        EXPECT_EQ(lines(done("message get CtlTwo --json -b " + only)), 4);
        const std::string byKey = done("message get CtlTwo --key two --json -b " + only);
        EXPECT_EQ(lines(byKey), 4);
        EXPECT_NE(byKey.find("\"broker\":\"ctl-b\""), std::string::npos) << byKey;
    }
    done("group create CtlTwoGroup");
    const auto rows = parsed("offset reset CtlTwoGroup --topic CtlTwo --to last -b ctl-b", text);
    EXPECT_EQ(rows.root().size(), 1U) << text;
    EXPECT_NE(text.find("\"broker\":\"ctl-b\""), std::string::npos) << text;
    // A group that is on line is told by its brokers.
    done("offset reset CtlTwoGroup --topic CtlTwo --to last -b " + first);
    RawClient here(broker_->brokerPort());
    RawClient there(other.brokerPort());
    const auto command = heartbeatRequest(consumerHeartbeat("two@1", "CtlTwoGroup", "CtlTwo"));
    ASSERT_EQ(here.call(command)->code, 0);
    ASSERT_EQ(there.call(command)->code, 0);
    EXPECT_EQ(shell("offset reset CtlTwoGroup --topic CtlTwo --to 1 --queue 0 -b ctl-b").exit, 4) << "its members would write over it";
    done("offset reset CtlTwoGroup --topic CtlTwo --to first -b ctl-b");
    EXPECT_NE(done("offset show CtlTwoGroup --topic CtlTwo --json -b " + first).find("\"committed\":2,\"behind\":0"), std::string::npos);
    EXPECT_NE(done("offset show CtlTwoGroup --topic CtlTwo --json -b ctl-b").find("\"committed\":0,\"behind\":4"), std::string::npos);
    EXPECT_NE(done("topic delete CtlTwo --dry-run --json -b ctl-b").find("\"messages\":4"), std::string::npos);
    done("topic delete CtlTwo -b ctl-b");
    EXPECT_EQ(shell("topic show CtlTwo -b ctl-b").exit, 3);
    EXPECT_NE(messages(first).find("\"messages\":2"), std::string::npos) << "the other broker keeps its messages";
    EXPECT_NE(done("route CtlTwo --json").find(first), std::string::npos);
    done("topic delete CtlTwo -b " + first);
    EXPECT_EQ(shell("route CtlTwo").exit, 3) << "gone with the last broker that had it";
    EXPECT_EQ(other.stop(SIGTERM), 0) << other.output();
}

TEST_P(PatchctlOnStore, ABrokerThatIsSilentHidesNothingOfTheOthers) {
    BrokerProcess other("brokerName = ctl-silent\nnamesrvAddr = 127.0.0.1:" + std::to_string(broker_->namesrvPort()) + "\n" + onStore(GetParam()));
    ASSERT_TRUE(other.start()) << other.output();
    int tries = 0;
    while (shell("topic create CtlSilentReady -b ctl-silent").exit == 3) ASSERT_LT(++tries, 200) << other.output();
    done("topic create CtlHalf --queues 1");
    done("group create CtlHalfGroup");
    other.signal(SIGSTOP);
    for (const char* line : {"group list --timeout 200", "topic show CtlHalf --timeout 200", "topic list --timeout 200"}) {
        const auto ran = shell(line);
        EXPECT_EQ(ran.exit, 5) << line << "\n" << ran.out;
        EXPECT_NE(ran.out.find("ctl-silent at 127.0.0.1:" + std::to_string(other.brokerPort()) + " does not answer"), std::string::npos) << ran.out;
    }
    EXPECT_NE(shell("group list --timeout 200").out.find("CtlHalfGroup"), std::string::npos);
    EXPECT_EQ(shell("topic show CtlHalf -b ctl-silent --timeout 200").exit, 4);
    other.signal(SIGCONT);
    EXPECT_EQ(other.stop(SIGTERM), 0) << other.output();
}

TEST_P(PatchctlOnStore, WhoFollowsATopicWaitsForItsBroker) {
    BrokerProcess other(onStore(GetParam()));
    ASSERT_TRUE(other.start()) << other.output();
    const std::string at = " --namesrv 127.0.0.1:" + std::to_string(other.namesrvPort());
    int tries = 0;
    while (shell("topic create CtlFollow --queues 1" + at).exit != 0) ASSERT_LT(++tries, 200) << other.output();
    done("message send CtlFollow --body first" + at);
    const std::string command = "timeout 60 " + std::string(PATCHBAY_BUILD_DIR) + "/bin/patchctl message tail CtlFollow -f --count 2 --timeout 300" + at + " 2>&1";
    FILE* pipe = popen(command.c_str(), "r");
    ASSERT_NE(pipe, nullptr);
    std::string seen;
    const auto until = [&](const std::string& text) {
        std::array<char, 1024> line{};
        while (seen.find(text) == std::string::npos && fgets(line.data(), line.size(), pipe) != nullptr) seen += line.data();
        return seen.find(text) != std::string::npos;
    };
    EXPECT_TRUE(until("first")) << seen;
    other.signal(SIGSTOP);
    EXPECT_TRUE(until("waiting for ")) << seen;
    other.signal(SIGCONT);
    EXPECT_TRUE(until("answers again")) << seen;
    done("message send CtlFollow --body second" + at);
    EXPECT_TRUE(until("second")) << seen;
    EXPECT_EQ(pclose(pipe), 0) << seen;
    EXPECT_EQ(other.stop(SIGTERM), 0) << other.output();
}

TEST_P(PatchctlOnStore, TopShowsBrokersAndTopics) {
    done("topic create CtlTop");
    done("message send CtlTop --body x");
    const std::string text = done("top --count 1 --json");
    EXPECT_NE(text.find("\"kind\":\"broker\""), std::string::npos) << text;
    EXPECT_NE(text.find("\"kind\":\"topic\",\"name\":\"CtlTop\""), std::string::npos) << text;
    EXPECT_NE(text.find(" UPDATE_AND_CREATE_TOPIC 17\""), std::string::npos) << "codes have names: " << text;
}

TEST_P(PatchctlOnStore, TopMakesNoErrorsThatItThenShows) {
    done("topic create CtlQuiet");
    const auto errors = [&] {
        std::string text;
        const auto codes = parsed("plugin top", text);
        std::int64_t all = 0;
        for (const auto item : codes.root()) all += item.value["errors"].integer().value_or(0);
        return all;
    };
    const auto before = errors();
    done("top --count 2 --interval 1 --json");
    EXPECT_EQ(errors(), before) << "a topic without traffic is none";
}

TEST_P(PatchctlOnStore, ConfigurationIsReadChangedAndCompared) {
    EXPECT_NE(done("config get brokerName").find("brokerName"), std::string::npos);
    EXPECT_EQ(shell("config get noSuchKey").exit, 3);
    EXPECT_NE(done("config get kvConfigPath --nameserver --json").find("kvConfig"), std::string::npos);
    done("config set maxTransferCountOnMessageInMemory 33 --dry-run");
    EXPECT_NE(done("config get maxTransferCountOnMessageInMemory --json").find("\"32\""), std::string::npos);
    done("config set maxTransferCountOnMessageInMemory 33");
    EXPECT_NE(done("config get maxTransferCountOnMessageInMemory --json").find("\"33\""), std::string::npos);
    EXPECT_EQ(shell("config set storePathRootDir /tmp/elsewhere").exit, 1) << "paths stay";
    EXPECT_EQ(shell("config set longPollingEnable false").exit, 1) << "it needs a restart";
    const auto dry = shell("config set longPollingEnable false --dry-run");
    EXPECT_EQ(dry.exit, 1) << "a dry run promises nothing that is then refused";
    EXPECT_NE(dry.out.find("needs a restart"), std::string::npos) << dry.out;
    EXPECT_EQ(shell("config set noSuchKey 1").exit, 3);
    for (const char* line : {"config set waitSecondsForService 30 --dry-run", "config get waitSecondsForService"}) {
        const auto ran = shell(line);
        EXPECT_EQ(ran.exit, 3);
        EXPECT_NE(ran.out.find("but the name server has: add --nameserver"), std::string::npos) << ran.out;
    }
    done("config set maxTransferCountOnMessageInMemory 32");
    const std::string file = broker_->folder() / "compare.conf";
    std::ofstream(file) << "maxTransferCountOnMessageInMemory = 33\n";
    const auto different = shell("config diff " + file + " --json");
    EXPECT_EQ(different.exit, 6);
    EXPECT_NE(different.out.find("\"file\":\"33\",\"running\":\"32\""), std::string::npos) << different.out;
    std::ofstream(file) << "maxTransferCountOnMessageInMemory = 32\n";
    EXPECT_EQ(shell("config diff " + file).exit, 0);
    std::ofstream(file) << "plugin.reply.enabled = true\n";
    EXPECT_EQ(shell("config diff " + file).exit, 0) << "a line that is no key of the broker's table";
    std::ofstream(file) << "plugin.reply.enabled = false\n";
    EXPECT_EQ(shell("config diff " + file).exit, 6);
    EXPECT_NE(done("config explain fileReservedTime").find(", transaction"), std::string::npos) << "all owners";
    EXPECT_NE(done("config explain plugin.reply.enabled").find("true"), std::string::npos);
    EXPECT_EQ(shell("config set namesrv.nothing 1 --nameserver --dry-run").exit, 3);
}

TEST_P(PatchctlOnStore, PluginsAreListedInspectedAndExchanged) {
    std::string text;
    const auto list = parsed("plugin list", text);
    EXPECT_EQ(row(list, "name", "pull")["state"].text(), "serving") << text;
    const auto generation = row(list, "name", "pull")["generation"].integer().value_or(0);
    EXPECT_NE(done("plugin inspect pull").find("this broker takes it"), std::string::npos);
    EXPECT_EQ(shell("plugin inspect nobody").exit, 1);
    done("plugin reload pull");
    EXPECT_EQ(row(parsed("plugin list", text), "name", "pull")["generation"].integer(), generation + 1) << text;
    EXPECT_EQ(shell("plugin disable nobody --dry-run").exit, 3);
    done("plugin disable reply --dry-run");
    EXPECT_EQ(row(parsed("plugin list", text), "name", "reply")["state"].text(), "serving");
    done("plugin disable reply");
    EXPECT_EQ(row(parsed("plugin list", text), "name", "reply")["state"].text(), "off");
    done("plugin enable reply");
    EXPECT_EQ(row(parsed("plugin list", text), "name", "reply")["state"].text(), "serving");
    EXPECT_NE(done("config reload").find("what differed in the files is in force"), std::string::npos);
    const std::string main = broker_->folder() / "main.conf";
    const std::string before = readFile(main);
    std::ofstream(main, std::ios::app) << "traceOn = false\nframeMaxLength = 20000000\n";
    text = done("config reload --json");
    EXPECT_NE(text.find("other keys wait"), std::string::npos) << text;
    EXPECT_NE(text.find("\"waitForPluginReload\":\"reply: traceOn, send: traceOn\",\"waitForRestart\":\"frameMaxLength\""), std::string::npos) << text;
    done("plugin reload send");
    EXPECT_NE(done("config reload --json").find("\"waitForPluginReload\":\"reply: traceOn\""), std::string::npos);
    std::ofstream(main, std::ios::trunc) << before;
    done("plugin reload send");
    EXPECT_NE(done("plugin top --json").find("\"plugin\":\"admin\""), std::string::npos);
    EXPECT_NE(done("config explain listenPort").find("listenPort"), std::string::npos);
    EXPECT_EQ(shell("config explain noSuchKey").exit, 3);
    for (const char* command : {"config explain listenPrt", "config get listenPrt"}) {
        const auto wrong = shell(command);
        EXPECT_EQ(wrong.exit, 3);
        EXPECT_NE(wrong.out.find("has no key 'listenPrt'; did you mean listenPort?"), std::string::npos) << wrong.out;
    }
    const auto wrong = shell("config set flushDiskTyp SYNC_FLUSH --dry-run");
    EXPECT_NE(wrong.out.find("did you mean flushDiskType?"), std::string::npos) << wrong.out;
    EXPECT_EQ(shell("config diff --json").out.substr(0, 1), "[");
}

TEST_P(PatchctlOnStore, WhoeverSwitchesTheCommandsOffIsToldTheWayBack) {
    BrokerProcess locked(onStore(GetParam()));
    ASSERT_TRUE(locked.start()) << locked.output();
    const std::string at = " -b 127.0.0.1:" + std::to_string(locked.brokerPort());
    const auto refused = shell("plugin disable control" + at);
    EXPECT_EQ(refused.exit, 1);
    EXPECT_NE(refused.out.find("config/runtime.properties"), std::string::npos) << refused.out;
    done("plugin list" + at);
    const std::string off = done("plugin disable control --force" + at);
    EXPECT_NE(off.find("the way back is at the broker: remove 'plugin.control.enabled = false'"), std::string::npos) << off;
    EXPECT_EQ(shell("plugin list" + at).exit, 1) << "nothing answers";
    const std::string file = locked.folder() / "store/config/runtime.properties";
    std::istringstream lines(readFile(file));
    std::string kept;
    for (std::string line; std::getline(lines, line);) {
        if (line.find("plugin.control.enabled") == std::string::npos) kept += line + "\n";
    }
    std::ofstream(file) << kept;
    ASSERT_EQ(locked.stop(SIGTERM), 0) << locked.output();
    ASSERT_TRUE(locked.start()) << locked.output();
    done("plugin list -b 127.0.0.1:" + std::to_string(locked.brokerPort()));
    EXPECT_EQ(locked.stop(SIGTERM), 0) << locked.output();
}

TEST_P(PatchctlOnStore, AGroupThatDoesNotGetOnIsExplained) {
    done("group create CtlStuck");
    EXPECT_NE(done("why-stuck CtlStuck").find("No member is on line"), std::string::npos);
    EXPECT_NE(done("why-stuck CtlStuck --json").find("\"sentence\":"), std::string::npos);
    EXPECT_EQ(shell("why-stuck CtlNobody").exit, 3);
}

TEST_P(PatchctlOnStore, AMemberThatHoldsItselfBackIsAskedAndSaysSo) {
    done("topic create CtlFull --queues 1");
    done("message send CtlFull --body a --count 3");
    done("group create CtlFullGroup");
    RawClient member(broker_->brokerPort());
    ASSERT_EQ(member.call(heartbeatRequest(consumerHeartbeat("full@1", "CtlFullGroup", "CtlFull")))->code, 0);
    auto pull = protocol::RemotingCommand::request(protocol::RequestCode::PullMessage);
    for (const auto& [name, value] : std::map<std::string, std::string>{
             {"consumerGroup", "CtlFullGroup"}, {"topic", "CtlFull"}, {"queueId", "0"}, {"queueOffset", "0"}, {"maxMsgNums", "32"},
             {"sysFlag", "4"}, {"commitOffset", "0"}, {"suspendTimeoutMillis", "0"}, {"subscription", "*"}, {"subVersion", "1"}}) {
        pull.set(name, value);
    }
    ASSERT_EQ(member.call(pull)->code, 0);
    std::string text;
    const auto cluster = parsed("cluster list", text);
    const std::string name = (*cluster.root().begin()).value["broker"].text().value_or("");
    auto said = std::async(std::launch::async, [] { return shell("why-stuck CtlFullGroup"); });
    auto asked = member.receive();
    while (asked && asked->code != static_cast<std::int32_t>(protocol::RequestCode::GetConsumerRunningInfo)) asked = member.receive();
    ASSERT_TRUE(asked) << asked.error().message() << said.get().out;
    auto answer = protocol::RemotingCommand::response(protocol::ResponseCode::Success, asked->opaque);
    answer.body = R"({"mqTable":{{"brokerName":")" + name + R"(","queueId":0,"topic":"CtlFull"}:{"cachedMsgCount":3,"droped":false}},)"
                  R"("properties":{"pullThresholdForQueue":"2"}})";
    ASSERT_TRUE(member.send(*answer.encode(protocol::SerializeType::Json)));
    const auto told = said.get();
    EXPECT_EQ(told.exit, 0);
    EXPECT_NE(told.out.find("full@1 does not pull, by flow control: 3 messages are in its cache, pullThresholdForQueue is 2"), std::string::npos) << told.out;
}

TEST_P(PatchctlOnStore, ALoadIsMadeAndMeasured) {
    done("topic create CtlBench");
    const std::string text = done("bench send CtlBench --threads 2 --messages 200 --size 100 --seconds 30 --json");
    EXPECT_NE(text.find("\"messages\":200,\"failed\":0"), std::string::npos) << text;
    EXPECT_EQ(shell("bench send CtlNothing").exit, 3);
    EXPECT_EQ(shell("bench send CtlBench --size 0").exit, 2);
}

/// The first row of a table, or the record.
json::Value firstOf(const json::Document& document, const std::string& text) {
    if (!text.starts_with('[')) return document.root();
    for (const auto item : document.root()) return item.value;
    return {};
}

// Scripts read these. A member may be added; one that is missing here is a script that broke.
TEST_P(PatchctlOnStore, JsonKeepsItsMembers) {
    done("topic create CtlJson --queues 1");
    done("message send CtlJson --body x --keys json-key");
    done("group create CtlJsonGroup");
    done("offset reset CtlJsonGroup --topic CtlJson --to first");
    std::string text;
    const auto cluster = parsed("cluster list", text);
    const std::string broker(firstOf(cluster, text)["broker"].text().value_or(""));
    const std::pair<std::string, std::vector<const char*>> commands[] = {
        {"topic list", {"topic", "broker", "readQueues", "writeQueues", "perm", "order", "type"}},
        {"topic show CtlJson", {"broker", "queue", "min", "max", "messages", "lastMs", "perm"}},
        {"topic groups CtlJson", {"group", "members", "behind"}},
        {"topic set CtlJson --queues 1 --dry-run", {"broker", "address", "ok", "outcome"}},
        {"topic delete CtlJson --dry-run", {"topic", "deleted", "messages", "groups"}},
        {"route CtlJson", {"broker", "cluster", "id", "address", "readQueues", "writeQueues", "perm"}},
        {"group list", {"group", "members", "retryMax", "retryQueues", "consume", "broadcast", "orderly", "brokers"}},
        {"group delete CtlJsonGroup --dry-run", {"broker", "address", "ok", "outcome"}},
        {"offset show CtlJsonGroup", {"topic", "broker", "queue", "end", "committed", "behind", "inFlight", "lastMs"}},
        {"offset reset CtlJsonGroup --topic CtlJson --dry-run", {"broker", "queue", "from", "to", "again", "skipped"}},
        {"offset clone CtlJsonGroup CtlJsonGroup --dry-run", {"topic", "broker", "queue", "offset"}},
        {"message get CtlJson --key json-key",
         {"topic", "id", "offsetId", "broker", "queue", "offset", "storedMs", "bornMs", "tags", "keys", "tries", "properties", "body"}},
        {"message send CtlJson --body y", {"id", "offsetId", "broker", "queue", "offset", "status"}},
        {"cluster list", {"cluster", "broker", "id", "address", "version", "putRate", "getRate", "diskRatio", "earliestMs"}},
        {"broker fence " + broker + " --dry-run", {"broker", "outcome"}},
        {"broker fence " + broker, {"broker", "topics"}},
        {"broker unfence " + broker, {"broker", "topics"}},
        {"top --count 1", {"broker", "kind", "name", "in", "out", "behind", "medianMs"}},
        {"config get listenPort", {"key", "value"}},
        {"config set maxTransferCountOnMessageInMemory 32 --dry-run", {"broker", "address", "ok", "outcome"}},
        {"config set orderMessageEnable false --nameserver --dry-run", {"key", "value", "outcome"}},
        {"config set orderMessageEnable false --nameserver", {"key", "value", "outcome"}},
        {"config explain listenPort",
         {"key", "owner", "doc", "type", "default", "value", "origin", "where", "fileValue", "fileWhere", "live", "takesEffect"}},
        {"config reload", {"broker", "outcome"}},
        {"plugin list", {"name", "version", "state", "generation", "startedMs", "codes", "provides", "why"}},
        {"plugin inspect send", {"path", "manifest"}},
        {"plugin reload send", {"plugin", "outcome"}},
        {"plugin disable reply --dry-run", {"plugin", "outcome"}},
        {"plugin top", {"plugin", "code", "listener", "calls", "errors", "busy", "open", "queued", "waitUs", "p50Us", "p99Us", "wait99Us"}},
        {"why-stuck CtlJsonGroup", {"group", "broker", "sentence", "members", "conflicts", "topics"}},
        {"bench send CtlJson --threads 1 --messages 3",
         {"messages", "failed", "seconds", "messagesPerSecond", "bytesPerSecond", "p50Us", "p99Us", "p999Us", "maxUs"}},
        {"version", {"version"}},
    };
    for (const auto& [line, members] : commands) {
        const auto document = parsed(line, text);
        const auto first = firstOf(document, text);
        for (const char* member : members) EXPECT_TRUE(first[member].exists()) << line << ": " << member << " in " << text.substr(0, 400);
    }
}

// One store: no broker is asked.
TEST_F(PatchctlFixture, APluginsFilesAreMade) {
    const std::string folder = broker_->folder() / "made";
    done("plugin new my-plugin --directory " + folder);
    EXPECT_TRUE(std::filesystem::exists(folder + "/my-plugin/CMakeLists.txt"));
    const std::string sdk = std::string(PATCHBAY_SOURCE_DIR) + "/sdk/";
    for (const auto* file : {"plugin.cpp", "MyPlugin.cpp", "MyPlugin_test.cpp"}) {
        EXPECT_EQ(std::system(("c++ -std=c++20 -fsyntax-only -Wall -Wextra -Werror -I" + sdk + "plugin-api/include -I" + sdk + "protocol/include -I" + sdk +
                               "testkit/include " + folder + "/my-plugin/" + file).c_str()), 0) << file << ": the compiler takes it as it is";
    }
    EXPECT_EQ(shell("plugin new my-plugin --directory " + folder).exit, 1) << "it exists";
    EXPECT_EQ(shell("plugin new My_Plugin --directory " + folder).exit, 1);
}

// One store: what is repaired is a commit log, what is backed up the database that comes of it.
TEST_F(PatchctlFixture, AStoppedStoreIsLookedAtCheckedDumpedAndConverted) {
    BrokerProcess stopped(onStore("storage-mmap") + "mappedFileSizeCommitLog = 1048576\n");
    ASSERT_TRUE(stopped.start()) << stopped.output();
    const std::string at = " --namesrv 127.0.0.1:" + std::to_string(stopped.namesrvPort());
    int tries = 0;
    while (shell("topic create CtlStore --queues 1" + at).exit != 0) ASSERT_LT(++tries, 200) << stopped.output();
    done("message send CtlStore --body 'kept body' --count 3" + at);
    const std::string store = stopped.folder() / "store";
    EXPECT_EQ(shell("store info " + store).exit, 1) << "a broker uses it";
    EXPECT_EQ(shell("store convert " + store + " " + stopped.folder().path() + "/other --dry-run").exit, 1) << "a broker uses it";
    ASSERT_EQ(stopped.stop(SIGTERM), 0) << stopped.output();
    EXPECT_EQ(done("store info " + store + " --json").substr(0, 1), "{");
    EXPECT_EQ(shell("store info " + store + "/nothing").exit, 3);
    EXPECT_NE(done("store dump " + store + " --topic CtlStore --bodies").find("kept body"), std::string::npos);
    EXPECT_NE(done("store dump " + store + " --topic CtlStore --max 2").find("2 messages"), std::string::npos);
    done("store check " + store);
    EXPECT_EQ(shell("store repair " + store).exit, 1) << "only a dry run";
    done("store repair " + store + " --dry-run");
    const std::string copy = stopped.folder() / "copy/sqlite";
    EXPECT_NE(done("store convert " + store + " " + copy + " --dry-run --json").find("\"toKind\":\"sqlite\",\"outcome\":\"nothing was copied\""), std::string::npos);
    EXPECT_FALSE(std::filesystem::exists(copy));
    EXPECT_NE(done("store convert " + store + " " + copy + " --json").find("\"messages\":3"), std::string::npos);
    EXPECT_EQ(shell("store convert " + store + " " + copy + " --dry-run").exit, 1) << "there is a store in it now";
    EXPECT_EQ(shell("store convert " + stopped.folder().path() + "/empty " + copy).exit, 3);
    done("store convert " + copy + " " + stopped.folder().path() + "/back --segment-bytes 1048576 --batch-topic CtlStore");
    EXPECT_TRUE(std::filesystem::exists(stopped.folder() / "back/batchconsumequeue/CtlStore"));
    EXPECT_NE(done("store convert " + store + " " + stopped.folder().path() + "/less --leave-out CtlStore --json").find("\"leftOut\":1"), std::string::npos);
    done("store check-database " + copy + "/messages.db");
    EXPECT_NE(done("store backup " + copy + "/messages.db " + stopped.folder().path() + "/backup.db --json").find("\"messages\":3"), std::string::npos);
}

// One store: no broker is asked.
TEST_F(PatchctlFixture, TheDocumentedCommandsAreThoseOfTheTable) {
    EXPECT_EQ(done("markdown"), readFile(std::string(PATCHBAY_SOURCE_DIR) + "/docs/patchctl.md")) << "run: ./dev docs";
    EXPECT_EQ(done("manual"), readFile(std::string(PATCHBAY_SOURCE_DIR) + "/docs/patchctl.1")) << "run: ./dev docs";
    EXPECT_EQ(done("completion bash"), readFile(std::string(PATCHBAY_SOURCE_DIR) + "/tools/completion/patchctl.bash")) << "run: ./dev docs";
}

// One store: no broker is asked.
TEST_F(PatchctlFixture, CompletionIsAScriptThatTheShellTakes) {
    const std::string file = broker_->folder() / "completion.bash";
    std::ofstream(file) << done("completion bash");
    EXPECT_EQ(std::system(("bash -n " + file).c_str()), 0);
    // What is proposed behind the words; "" is the word that was begun.
    const auto proposed = [&file](const std::string& words) {
        const std::string ask = "bash -c '. " + file + "; _patchctl_names() { echo $1 at $2; }; COMP_WORDS=(patchctl " + words +
                                "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _patchctl; echo \"${COMPREPLY[@]}\"'";
        FILE* pipe = popen(ask.c_str(), "r");
        std::array<char, 512> line{};
        if (pipe == nullptr || fgets(line.data(), line.size(), pipe) == nullptr) return std::string("nothing");
        pclose(pipe);
        return std::string(line.data());
    };
    EXPECT_EQ(proposed("topic \"\""), "list show create set delete groups\n");
    EXPECT_EQ(proposed("topic create \"\""), "\n");
    EXPECT_EQ(proposed("offset reset billing --top"), "--topic\n");
    EXPECT_EQ(proposed("offset reset billing --topic \"\""), "topic at\n");
    EXPECT_EQ(proposed("offset reset --topic orders --dry-run \"\""), "group at\n");
    EXPECT_EQ(proposed("-n 127.0.0.1 : 9876 topic show \"\""), "topic at 127.0.0.1:9876\n");
    EXPECT_EQ(proposed("topic create orders --type F"), "FIFO\n");
    EXPECT_EQ(proposed("topic create --queues = 4 orders --pe"), "--perm\n");
    EXPECT_EQ(proposed("message send orders --count \"\""), "\n");
    EXPECT_EQ(shell("completion fish").exit, 2);
}

// One store: no broker is asked.
TEST_F(PatchctlFixture, WrongLinesEndWithTwo) {
    const auto told = shell("topic delete --json");
    EXPECT_EQ(told.exit, 2);
    EXPECT_TRUE(told.out.starts_with("{\"error\":\"TOPIC is missing")) << told.out;
    EXPECT_EQ(shell("topics").exit, 2);
    EXPECT_EQ(shell("topic list --nonsense").exit, 2);
    EXPECT_EQ(shell("help nonsense").exit, 2);
    EXPECT_EQ(shell("help").exit, 0);
    EXPECT_EQ(shell("topic list --help").exit, 0);
    EXPECT_EQ(shell("--version").exit, 0);
}

INSTANTIATE_TEST_SUITE_P(Mmap, PatchctlOnStore, ::testing::Values("storage-mmap"));
INSTANTIATE_TEST_SUITE_P(Sqlite, PatchctlOnStore, ::testing::Values("storage-sqlite"));

}  // namespace
}  // namespace patchbay::test
