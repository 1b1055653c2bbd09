// Proves: what a producer is answered and what is stored, for single messages, batches, bad requests and a slow store.
// How: the plugin on a fake kernel with the real topic table and the store in memory; requests are frames.
// Left to others: the store itself (contract suite), sockets and threads (integration), clients (interop).
#include "TopicsPlugin.h"

#include "patchbay/protocol/headers/SendMessage.h"
#include "patchbay/protocol/message/Batch.h"
#include "patchbay/protocol/message/MessageId.h"
#include "patchbay/protocol/message/MessageRecord.h"
#include "patchbay/protocol/message/Names.h"
#include "patchbay/protocol/message/Properties.h"
#include "patchbay/protocol/message/RecallHandle.h"
#include "patchbay/protocol/message/SysFlag.h"
#include "patchbay/protocol/util/Hash.h"
#include "patchbay/service/DelaySchedule.h"
#include "patchbay/service/TransactionStore.h"
#include "patchbay/testkit/FakeContext.h"
#include "patchbay/testkit/FaultyFiles.h"
#include "patchbay/testkit/MemoryStore.h"
#include "patchbay/testkit/PluginRunner.h"
#include "patchbay/testkit/TempDir.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <set>

extern "C" patchbay::plugin::Plugin* patchbay_plugin_create() noexcept;

namespace patchbay::plugins::send {
namespace {

using namespace std::string_literals;
using protocol::RequestCode;
using protocol::ResponseCode;
using testkit::CallResult;

struct Stored {
    std::string bytes;
    protocol::RecordView view;
};

class SendTest : public ::testing::Test {
protected:
    void begin(testkit::Settings settings = {}, testkit::Settings topicSettings = {}) {
        context_.brokerIdentity().storeRoot = dir_.path();
        context_.provide<service::MessageStore>(store_);
        runner_.add(std::make_unique<topics::TopicsPlugin>(), std::move(topicSettings));
        plugin_ = patchbay_plugin_create();
        runner_.add(std::unique_ptr<plugin::Plugin>(plugin_), std::move(settings));
        const auto started = runner_.start();
        ASSERT_TRUE(started) << started.message();
        protocol::TopicConfig topic;
        topic.topicName = "T";
        topic.readQueueNums = topic.writeQueueNums = 4;
        ASSERT_TRUE(topics().put(topic));
    }

    static protocol::SendMessageRequest header(std::string_view topic, std::string_view properties, std::int32_t queue = 0) {
        protocol::SendMessageRequest request;
        request.producerGroup = "P";
        request.topic = topic;
        request.defaultTopic = "TBW102";
        request.defaultTopicQueueNums = 4;
        request.queueId = queue;
        request.bornTimestamp = 1'700'000'000'000;
        request.properties = properties;
        return request;
    }
    CallResult send(const protocol::SendMessageRequest& request, std::string_view body = "hello",
                    const testkit::CallOptions& options = {}) {
        return context_.call(RequestCode::SendMessageV2, request, body, options);
    }
    CallResult send(std::string_view topic, std::string_view properties, std::string_view body = "hello") {
        return send(header(topic, properties), body);
    }
    service::TopicConfigs& topics() {
        auto* found = context_.services().find<service::TopicConfigs>();
        PATCHBAY_ASSERT(found != nullptr);
        return *found;
    }
    Stored stored(std::string_view topic, std::int32_t queue, std::int64_t offset) {
        service::ReadResult result;
        service::ReadLimits limits;
        limits.messagesMax = 1;
        store_.read(topic, queue, offset, limits, nullptr, result);
        Stored record;
        for (const auto piece : result.pieces) record.bytes += piece;
        EXPECT_EQ(protocol::RecordView::parse(record.bytes, record.view), protocol::RecordStatus::Message);
        return record;
    }
    static std::string batch(std::initializer_list<std::pair<std::string, std::string>> entries) {
        std::string body;
        for (const auto& [text, properties] : entries) protocol::appendBatchEntry(body, {7, text, properties});
        return body;
    }

    testkit::TempDir dir_;
    testkit::FaultyFiles files_{systemFiles()};
    testkit::FakeContext context_{files_};
    testkit::MemoryStore store_{context_.clock()};
    testkit::PluginRunner runner_{context_};
    plugin::Plugin* plugin_ = nullptr;
};

/// Puts everything aside for a time.
struct TimersOnly final : service::DelaySchedule {
    Status prepare(service::AppendItem& item, std::string& properties) override {
        properties = std::string(item.properties) + "\2TIMER_OUT_MS\1" "5000\2";
        item.properties = properties;
        item.topic = protocol::kTopicTimer;
        item.queueId = 0;
        return Status::ok();
    }
};

TEST_F(SendTest, ATimedMessageIsAnsweredWithWhatItTakesToRecallIt) {
    TimersOnly timers;
    context_.provide<service::DelaySchedule>(timers);
    begin();
    auto timed = send(header("T", "UNIQ_KEY\1U1\2TIMER_DELAY_SEC\0013\2"s, 2));
    ASSERT_EQ(timed.code(), ResponseCode::Success) << timed.remark();
    EXPECT_EQ(timed.field("queueId"), "2") << "the one that was asked for";
    EXPECT_EQ(timed.field("recallHandle"), (protocol::RecallHandle{"T", "broker-a", 5001, "U1"}.encode()));
    EXPECT_EQ(stored(protocol::kTopicTimer, 0, 0).view.body, "hello");
    EXPECT_EQ(send("T", "UNIQ_KEY\1U2\2").field("recallHandle"), "");
    EXPECT_EQ(send("%RETRY%g", "TIMER_DELAY_SEC\0013\2"s).field("recallHandle"), "");
}

TEST_F(SendTest, AnswersWhereTheMessageWent) {
    begin();
    auto result = send(header("T", "UNIQ_KEY\1U1\2TAGS\1a\2", 2));
    ASSERT_TRUE(result.answered());
    EXPECT_EQ(result.code(), ResponseCode::Success) << result.remark();
    EXPECT_EQ(result.field("queueId"), "2");
    EXPECT_EQ(result.field("queueOffset"), "0");
    EXPECT_EQ(result.field("transactionId"), "U1");
    EXPECT_EQ(result.field("MSG_REGION"), context_.identity().regionId);
    EXPECT_EQ(result.field("TRACE_ON"), "true");
    const auto id = protocol::MessageId::parse(result.field("msgId"));
    ASSERT_TRUE(id);
    EXPECT_EQ(id->storeHost, context_.identity().storeHost);
    EXPECT_TRUE(store_.at(id->physicalOffset));
}

TEST_F(SendTest, StoresWhatTheProducerSaidAndAddsWhatTheBrokerKnows) {
    begin();
    auto request = header("T", "UNIQ_KEY\1U1\2TAGS\1a\2KEYS\1k\2name\1v\2");
    request.flag = 99;
    request.sysFlag = protocol::kSysFlagCompressed;
    request.reconsumeTimes = 3;
    ASSERT_EQ(send(request, "body").code(), ResponseCode::Success);
    const auto record = stored("T", 0, 0);
    EXPECT_EQ(record.view.topic, "T");
    EXPECT_EQ(record.view.body, "body");
    EXPECT_EQ(record.view.flag, 99);
    EXPECT_EQ(record.view.sysFlag, protocol::kSysFlagCompressed);
    EXPECT_EQ(record.view.reconsumeTimes, 3);
    EXPECT_EQ(record.view.bornTimestamp, 1'700'000'000'000);
    EXPECT_EQ(record.view.storeHost(), context_.identity().storeHost);
    const auto props = record.view.properties;
    EXPECT_EQ(protocol::findProperty(props, "name"), "v");
    EXPECT_EQ(protocol::findProperty(props, "KEYS"), "k");
    EXPECT_EQ(protocol::findProperty(props, "CLUSTER"), context_.identity().clusterName);
    EXPECT_EQ(protocol::findProperty(props, "TRACE_ON"), "true");
}

TEST_F(SendTest, PutsASeparatorWhereTheProducerLeftItOut) {
    begin();
    ASSERT_EQ(send("T", "UNIQ_KEY\1U1\2KEYS\1last"s).code(), ResponseCode::Success);
    const auto record = stored("T", 0, 0);
    EXPECT_EQ(protocol::findProperty(record.view.properties, "KEYS"), "last");
    EXPECT_EQ(protocol::findProperty(record.view.properties, "CLUSTER"), context_.identity().clusterName);
}

TEST_F(SendTest, MakesAUniqueKeyWhenThereIsNone) {
    begin();
    auto result = send("T", "TAGS\1a\2");
    ASSERT_EQ(result.code(), ResponseCode::Success);
    EXPECT_EQ(result.field("transactionId").size(), protocol::kMessageIdCharsV4);
    EXPECT_EQ(protocol::findProperty(stored("T", 0, 0).view.properties, "UNIQ_KEY"), result.field("transactionId"));
}

TEST_F(SendTest, ReplacesWhatOnlyTheBrokerMaySay) {
    begin();
    ASSERT_EQ(send("T", "CLUSTER\1other\2POP_CK\1x\2UNIQ_KEY\1U\2").code(), ResponseCode::Success);
    const auto record = stored("T", 0, 0);
    EXPECT_EQ(protocol::findProperty(record.view.properties, "CLUSTER"), context_.identity().clusterName);
    EXPECT_EQ(protocol::findProperty(record.view.properties, "POP_CK"), "");
    EXPECT_EQ(record.view.properties.find("other"), std::string_view::npos);
}

TEST_F(SendTest, SpreadsMessagesOverTheQueuesWhenTheProducerDoesNotCare) {
    begin();
    std::set<std::string> queues;
    for (int i = 0; i < 8; ++i) queues.insert(send(header("T", "", -1)).field("queueId"));
    EXPECT_EQ(queues, (std::set<std::string>{"0", "1", "2", "3"}));
}

TEST_F(SendTest, ServesTheOldCodeWithLongKeys) {
    begin();
    protocol::FieldList fields;
    header("T", "UNIQ_KEY\1U\2").writeLong(fields);
    auto command = protocol::RemotingCommand::request(RequestCode::SendMessage);
    command.setFields(fields);
    command.body = "old";
    EXPECT_EQ(context_.send(command).code(), ResponseCode::Success);
    EXPECT_EQ(stored("T", 0, 0).view.body, "old");
}

TEST_F(SendTest, RefusesWithRocketMqsCodesAndWords) {
    begin({}, {{"autoCreateTopicEnable", "false"}});
    const auto refused = [this](std::string_view topic, std::int32_t queue = 0) {
        auto result = send(header(topic, "", queue));
        EXPECT_EQ(result.field("MSG_REGION"), context_.identity().regionId) << topic;
        return std::pair(result.code(), result.remark());
    };
    EXPECT_EQ(refused("bad topic!"), std::pair(ResponseCode::InvalidParameter,
              "The specified topic contains illegal characters, allowing only ^[%|a-zA-Z0-9_-]+$"s));
    EXPECT_EQ(refused(""), std::pair(ResponseCode::InvalidParameter, "The specified topic is blank."s));
    EXPECT_EQ(refused("SELF_TEST_TOPIC"), std::pair(ResponseCode::NoPermission,
              "Sending message to topic[SELF_TEST_TOPIC] is forbidden."s));
    EXPECT_EQ(refused("Nope"), std::pair(ResponseCode::TopicNotExist, "topic[Nope] not exist, apply first please!\nSee "
              "https://rocketmq.apache.org/docs/bestPractice/06FAQ for further details."s));
    const auto [code, remark] = refused("T", 99);
    EXPECT_EQ(code, ResponseCode::InvalidParameter);
    EXPECT_TRUE(remark.starts_with("request queueId[99] is illegal, TopicConfig [topicName=T, readQueueNums=4, writeQueueNums=4, "
                                   "perm=RW-, topicFilterType=SINGLE_TAG, topicSysFlag=0, order=false, attributes={}] Producer: "))
        << remark;
    EXPECT_EQ(store_.stats().messagesAppended, 0);
}

TEST_F(SendTest, ATopicThatTheDiskHasNoRoomForIsNotSaidToBeUnknown) {
    begin();
    files_.failWrites({StatusCode::Full, "cannot write /store/config/topics.json.journal: No space left on device"});
    for (const char* topic : {"Fresh", "%RETRY%fresh"}) {
        auto result = send(topic, "");
        EXPECT_EQ(result.code(), ResponseCode::ServiceNotAvailable) << "a producer tries another broker";
        EXPECT_EQ(result.remark(), "topic["s + topic + "] cannot be created: cannot write /store/config/topics.json.journal: No space left on device");
    }
    EXPECT_GE(context_.log().countLimited("a topic cannot be created"), 2U);
    files_.clear();
    EXPECT_EQ(send("Fresh", "").code(), ResponseCode::Success);
}

TEST_F(SendTest, CreatesATopicOnDemand) {
    begin();
    EXPECT_EQ(send("Fresh", "").code(), ResponseCode::Success);
    service::TopicFacts facts;
    ASSERT_TRUE(topics().find("Fresh", facts));
    EXPECT_EQ(facts.writeQueueNums, 4);
    EXPECT_EQ(facts.perm, 6);
}

TEST_F(SendTest, ANumberThatIsNoneIsASystemError) {
    begin();
    auto command = protocol::RemotingCommand::request(RequestCode::SendMessageV2);
    command.setHeader(header("T", ""));
    command.set("e", "zz");
    command.body = "x";
    EXPECT_EQ(context_.send(command).code(), ResponseCode::SystemError);
}

TEST_F(SendTest, AnEmptyBodyIsRefused) {
    begin();
    EXPECT_EQ(send("T", "", "").code(), ResponseCode::SystemError);
    EXPECT_EQ(store_.stats().messagesAppended, 0);
}

TEST_F(SendTest, ACompactedTopicTakesOnlyMessagesWithAKey) {
    begin();
    protocol::TopicConfig topic;
    topic.topicName = "Latest";
    topic.attributes = {{"+cleanup.policy", "COMPACTION"}};
    ASSERT_TRUE(topics().put(topic));
    for (const auto& properties : {""s, "TAGS\1a\2"s, "KEYS\1 \t\2"s}) {
        const auto refused = send("Latest", properties);
        EXPECT_EQ(refused.code(), ResponseCode::MessageIllegal) << properties;
        EXPECT_EQ(refused.remark(), "Required message key is missing");
    }
    EXPECT_EQ(send("Latest", "KEYS\1k\2").code(), ResponseCode::Success);
    EXPECT_EQ(send("T", "").code(), ResponseCode::Success) << "others need none";
}

TEST_F(SendTest, DelayedMessagesAreRefusedWhileNobodySchedulesThem) {
    begin();
    EXPECT_EQ(send("T", "DELAY\0013\2"s).code(), ResponseCode::MessageIllegal);
    EXPECT_EQ(send("T", "TIMER_DELAY_SEC\0013\2"s).code(), ResponseCode::MessageIllegal);
    auto noNumber = send("T", "DELAY\1abc\2");
    EXPECT_EQ(noNumber.code(), ResponseCode::SystemError);
    EXPECT_EQ(noNumber.field("MSG_REGION"), "") << "an exception in RocketMQ, whose answer has no fields";
    EXPECT_EQ(send("T", "DELAY\1-1\2").code(), ResponseCode::Success);
    EXPECT_EQ(send("T", "DELAY\0010\2"s).code(), ResponseCode::Success);
}

TEST_F(SendTest, TransactionalMessagesAreRefusedWhileNobodyFinishesThem) {
    begin();
    EXPECT_EQ(send("T", "TRAN_MSG\1TRUE\2").code(), ResponseCode::NoPermission);
}

class Aside final : public service::TransactionStore {
public:
    void prepare(service::AppendItem& item, std::string& properties) override {
        properties = std::string(item.properties) + std::string(item.brokerProperties) + "ASIDE\1yes\2";
        item.properties = properties;
        item.topic = "RMQ_SYS_TRANS_HALF_TOPIC";
        item.queueId = 0;
    }
};

TEST_F(SendTest, TransactionalMessagesArePutAsideAndTheProducerIsToldItsOwnQueue) {
    Aside aside;
    context_.provide<service::TransactionStore>(aside);
    begin();
    auto result = send(header("T", "TRAN_MSG\1true\2UNIQ_KEY\1U\2DELAY\0013\2", 2));
    ASSERT_EQ(result.code(), ResponseCode::Success) << result.remark();
    EXPECT_EQ(result.field("queueId"), "2");
    EXPECT_EQ(result.field("queueOffset"), "0");
    const auto record = stored("RMQ_SYS_TRANS_HALF_TOPIC", 0, 0);
    EXPECT_EQ(protocol::findProperty(record.view.properties, "ASIDE"), "yes");
    EXPECT_EQ(protocol::findProperty(record.view.properties, "CLUSTER"), context_.identity().clusterName);
    EXPECT_FALSE(store_.range("T", 2).exists);
    runner_.stop();
}

TEST_F(SendTest, TransactionalMessagesCanBeSwitchedOffAndOn) {
    Aside aside;
    context_.provide<service::TransactionStore>(aside);
    begin({{"rejectTransactionMessage", "true"}});
    EXPECT_EQ(send("T", "TRAN_MSG\1true\2").code(), ResponseCode::NoPermission);
    const Status changed = runner_.reconfigure(*plugin_, {{"rejectTransactionMessage", "false"}});
    ASSERT_TRUE(changed) << changed.toString();
    EXPECT_EQ(send("T", "TRAN_MSG\1true\2").code(), ResponseCode::Success);
    runner_.stop();
}

TEST_F(SendTest, ABatchIsStoredWholeInOneQueue) {
    begin();
    auto request = header("T", "UNIQ_KEY\1B\2WAIT\1true\2", 1);
    request.batch = true;
    auto result = context_.call(RequestCode::SendBatchMessage, request,
                                batch({{"one", "UNIQ_KEY\1U1\2TAGS\1a\2"}, {"two", "UNIQ_KEY\1U2"}, {"three", ""}}));
    ASSERT_EQ(result.code(), ResponseCode::Success) << result.remark();
    EXPECT_EQ(result.field("queueOffset"), "0");
    EXPECT_EQ(result.field("transactionId"), "B");
    const std::string ids = result.field("msgId");
    EXPECT_EQ(std::ranges::count(ids, ','), 2);
    EXPECT_EQ(store_.range("T", 1).max, 3);
    const auto first = stored("T", 1, 0);
    EXPECT_EQ(first.view.body, "one");
    EXPECT_EQ(first.view.flag, 7);
    const auto second = stored("T", 1, 1);
    EXPECT_EQ(protocol::findProperty(second.view.properties, "UNIQ_KEY"), "B") << "the batch's own comes last, as from Java 5.3.3";
    EXPECT_EQ(protocol::findProperty(second.view.properties, "CLUSTER"), context_.identity().clusterName);
    EXPECT_EQ(stored("T", 1, 2).view.body, "three");
}

TEST_F(SendTest, ABatchForBatchQueuesIsOneRecordWhereTheStoreCanDoThat) {
    store_.setInnerBatches(true);
    begin();
    protocol::TopicConfig topic;
    topic.topicName = "Batches";
    topic.readQueueNums = topic.writeQueueNums = 4;
    topic.attributes = {{"+queue.type", "BatchCQ"}};
    ASSERT_TRUE(topics().put(topic));
    auto request = header("Batches", "UNIQ_KEY\1B\2TAGS\1a\2MSG_REGION\1no\2", 1);
    request.batch = true;
    const std::string body = batch({{"one", "UNIQ_KEY\1U1\2"}, {"two", ""}, {"three", ""}});
    auto result = context_.call(RequestCode::SendBatchMessage, request, body);
    ASSERT_EQ(result.code(), ResponseCode::Success) << result.remark();
    EXPECT_EQ(result.field("batchUniqId"), "B");
    EXPECT_EQ(result.field("transactionId"), "B");
    EXPECT_EQ(result.field("msgId").find(','), std::string::npos);
    const auto record = stored("Batches", 1, 0);
    EXPECT_EQ(record.view.body, body);
    EXPECT_EQ(record.view.sysFlag, protocol::kSysFlagInnerBatch | protocol::kSysFlagNeedUnwrap);
    EXPECT_EQ(protocol::findProperty(record.view.properties, "INNER_NUM"), "3");
    EXPECT_EQ(protocol::findProperty(record.view.properties, "CLUSTER"), context_.identity().clusterName);
    EXPECT_EQ(protocol::findProperty(record.view.properties, "MSG_REGION"), context_.identity().regionId);

    request.properties = "TAGS\1a\2";  // without the key by which it could be told
    EXPECT_EQ(context_.call(RequestCode::SendBatchMessage, request, body).field("batchUniqId"), "");
    EXPECT_EQ(stored("Batches", 1, 3).view.body, "three");
    request.topic = "T";
    request.properties = "UNIQ_KEY\1B\2";
    EXPECT_EQ(context_.call(RequestCode::SendBatchMessage, request, body).field("batchUniqId"), "");
    EXPECT_EQ(store_.range("T", 1).max, 3);
}

TEST_F(SendTest, ABatchForBatchQueuesIsSoManyMessagesInOtherStores) {
    begin();
    protocol::TopicConfig topic;
    topic.topicName = "Batches";
    topic.attributes = {{"+queue.type", "BatchCQ"}};
    ASSERT_TRUE(topics().put(topic));
    auto request = header("Batches", "UNIQ_KEY\1B\2", 1);
    request.batch = true;
    const auto result = context_.call(RequestCode::SendBatchMessage, request, batch({{"one", ""}, {"two", ""}}));
    ASSERT_EQ(result.code(), ResponseCode::Success) << result.remark();
    EXPECT_EQ(store_.range("Batches", 1).max, 2);
    EXPECT_EQ(stored("Batches", 1, 1).view.body, "two");
}

TEST_F(SendTest, ABatchDoesNotSayItselfHowManyMessagesAreInOneRecord) {
    begin();
    auto request = header("T", "");
    request.batch = true;
    const std::string good = batch({{"one", ""}, {"two", ""}});
    EXPECT_EQ(context_.call(RequestCode::SendBatchMessage, request, batch({{"one", ""}, {"two", "INNER_NUM\0012\2"s}})).code(),
              ResponseCode::MessageIllegal);
    request.properties = "UNIQ_KEY\1B\2INNER_NUM\0012\2";
    EXPECT_EQ(context_.call(RequestCode::SendBatchMessage, request, good).code(), ResponseCode::MessageIllegal);
    EXPECT_FALSE(store_.range("T", 0).exists);
    request.properties = "UNIQ_KEY\1B\2";
    EXPECT_EQ(context_.call(RequestCode::SendBatchMessage, request, good).code(), ResponseCode::Success);
}

TEST_F(SendTest, ABrokenBatchStoresNothing) {
    begin();
    auto request = header("T", "");
    request.batch = true;
    const std::string good = batch({{"one", ""}, {"two", ""}});
    for (const std::string& body : {good.substr(0, good.size() - 1), ""s, "\0\0"s}) {
        auto refused = context_.call(RequestCode::SendBatchMessage, request, body);
        EXPECT_EQ(refused.code(), ResponseCode::SystemError) << body.size();
        EXPECT_EQ(refused.field("MSG_REGION"), "") << body.size();
    }
    EXPECT_EQ(context_.call(RequestCode::SendBatchMessage, request, batch({{"one", ""}, {"two", "DELAY\0012\2"s}})).code(),
              ResponseCode::MessageIllegal);
    request.properties = "DELAY\0012\2";
    EXPECT_EQ(context_.call(RequestCode::SendBatchMessage, request, good).code(), ResponseCode::MessageIllegal);
    request.properties = {};
    request.topic = "%RETRY%g";
    EXPECT_EQ(context_.call(RequestCode::SendBatchMessage, request, good).code(), ResponseCode::MessageIllegal);
    EXPECT_EQ(store_.stats().messagesAppended, 0);
}

TEST_F(SendTest, MessagesOfOneTurnAreAppendedTogether) {
    begin();
    store_.setManual(true);
    testkit::CallOptions inTurn;
    inTurn.endOfBatch = false;
    auto first = send(header("T", ""), "a", inTurn);
    auto second = send(header("T", ""), "b", inTurn);
    EXPECT_TRUE(first.held() && second.held());
    context_.endBatch();
    EXPECT_EQ(store_.complete(1), 1U) << "one batch for both";
    EXPECT_EQ(first.code(), ResponseCode::Success);
    EXPECT_EQ(second.field("queueOffset"), "1");
}

TEST_F(SendTest, AnswersWhenTheStoreIsDoneNotBefore) {
    begin();
    store_.setManual(true);
    auto result = send("T", "");
    EXPECT_TRUE(result.held());
    store_.complete();
    EXPECT_EQ(result.code(), ResponseCode::Success);
}

TEST_F(SendTest, RefusesWhileTooManyMessagesWaitForTheirFlush) {
    begin({{"sendThreadPoolQueueCapacity", "2"}});
    store_.setManual(true);
    auto a = send("T", "");
    context_.manualClock().advance(std::chrono::milliseconds(321));
    auto b = send("T", "");
    auto c = send("T", "");
    ASSERT_TRUE(c.answered());
    EXPECT_EQ(c.code(), ResponseCode::SystemBusy);
    EXPECT_EQ(c.remark(), "[OVERLOAD]system busy, start flow control for a while, 2 messages wait for their flush, the oldest for 321ms, "
                          "limit sendThreadPoolQueueCapacity 2");
    store_.complete();
    EXPECT_EQ(a.code(), ResponseCode::Success);
    EXPECT_EQ(b.code(), ResponseCode::Success);
    auto d = send("T", "");
    store_.complete();
    EXPECT_EQ(d.code(), ResponseCode::Success);
}

TEST_F(SendTest, SaysWhyTheStoreRefused) {
    begin();
    store_.refuse(1, service::AppendStatus::ServiceNotAvailable, {StatusCode::Full, "the disk is full"});
    auto result = send("T", "");
    EXPECT_EQ(result.code(), ResponseCode::ServiceNotAvailable);
    EXPECT_NE(result.remark().find("the disk is full"), std::string::npos);
    store_.refuse(1, service::AppendStatus::Busy, {StatusCode::Busy, "too much waits for the disk"});
    auto busy = send("T", "");
    EXPECT_EQ(busy.code(), ResponseCode::SystemBusy);
    EXPECT_EQ(busy.remark(), "[PC_SYNCHRONIZED]broker busy, start flow control for a while, too much waits for the disk");
    store_.refuse(1, service::AppendStatus::FlushDiskTimeout, {});
    EXPECT_EQ(send("T", "").code(), ResponseCode::FlushDiskTimeout);
}

TEST_F(SendTest, AOnewayMessageIsStoredAndNotAnswered) {
    begin();
    testkit::CallOptions oneway;
    oneway.oneway = true;
    auto result = send(header("T", ""), "quiet", oneway);
    EXPECT_TRUE(result.consumed());
    EXPECT_EQ(stored("T", 0, 0).view.body, "quiet");
}

TEST_F(SendTest, RefusedOnewayMessagesAreCountedAndLogged) {
    begin();
    testkit::CallOptions oneway;
    oneway.oneway = true;
    auto& lost = context_.metrics().counter("send_oneway_refused_total", "");
    store_.refuse(1, service::AppendStatus::Busy, {StatusCode::Busy, "3 bytes wait to be written"});
    send(header("T", ""), "lost", oneway);
    EXPECT_EQ(lost.value(), 1U);
    EXPECT_TRUE(context_.log().contains("a one-way message was refused"));
    send(header("bad topic", ""), "lost", oneway);
    EXPECT_EQ(lost.value(), 2U);
    send(header("T", ""), "stored", oneway);
    EXPECT_EQ(lost.value(), 2U);
}

TEST_F(SendTest, TagsOfMultiTagTopicsAreMarked) {
    begin();
    protocol::TopicConfig topic;
    topic.topicName = "Multi";
    topic.topicFilterType = protocol::TopicFilterType::MultiTag;
    ASSERT_TRUE(topics().put(topic));
    ASSERT_EQ(send("Multi", "TAGS\1a\2").code(), ResponseCode::Success);
    EXPECT_EQ(stored("Multi", 0, 0).view.sysFlag & protocol::kSysFlagMultiTags, protocol::kSysFlagMultiTags);
}

}  // namespace
}  // namespace patchbay::plugins::send
