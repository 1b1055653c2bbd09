// Proves: endings, good and bad, are answered as a Java broker answered them.
// How: recorded frames against the plugins; places in the store are translated, because ours differ.
// Left to others: everything that was not recorded.
#include "TransactionBench.h"

#include "unit/plugins/Recorded.h"

#include <map>

namespace patchbay::plugins::transaction {
namespace {

/// Recorded place -> ours, learned from the answers to sends.
class Translation {
public:
    void learn(const protocol::RemotingCommand& theirs, const protocol::RemotingCommand& ours) {
        queue_[text(theirs, "queueOffset")] = text(ours, "queueOffset");
        log_[physical(theirs)] = physical(ours);
        ids_[text(theirs, "msgId")] = text(ours, "msgId");
    }
    [[nodiscard]] bool knows(const protocol::RemotingCommand& request) const {
        return log_.contains(text(request, "commitLogOffset"));
    }
    void apply(protocol::RemotingCommand& request) const {
        replace(request, "tranStateTableOffset", queue_);
        replace(request, "commitLogOffset", log_);
        replace(request, "msgId", ids_);
    }

private:
    using Map = std::map<std::string, std::string>;
    static std::string text(const protocol::RemotingCommand& command, std::string_view key) {
        return std::string(command.find(key).value_or(""));
    }
    static std::string physical(const protocol::RemotingCommand& command) {
        return std::to_string(protocol::MessageId::parse(text(command, "msgId"))->physicalOffset);
    }
    static void replace(protocol::RemotingCommand& request, std::string_view key, const Map& map) {
        const auto found = map.find(text(request, key));
        if (found != map.end()) request.set(key, found->second);
    }
    Map queue_;
    Map log_;
    Map ids_;
};

void replay(Broker& broker, const std::string& scenario, const std::string& topic) {
    protocol::TopicConfig config;
    config.topicName = topic;
    config.readQueueNums = config.writeQueueNums = 8;
    ASSERT_TRUE(broker.context.services().find<service::TopicConfigs>()->put(config));
    Translation translation;
    int answers = 0;
    for (auto& pair : recorded::pairs(scenario)) {
        const bool send = pair.request.code == 310 || pair.request.code == 10;
        const bool ours = send || pair.request.code == 37 || pair.request.code == 323;
        if (pair.role != "client->broker" || !ours || !pair.response) continue;
        SCOPED_TRACE(pair.where);
        // A place that a question told is known only to whoever was asked.
        const bool asked = pair.request.find("fromTransactionCheck") == "true";
        if (asked && !translation.knows(pair.request)) continue;
        translation.apply(pair.request);
        if (!send) {
            recorded::expectSameAnswer(broker.context, pair);
            ++answers;
            continue;
        }
        auto call = broker.context.send(pair.request);
        ASSERT_TRUE(call.answered());
        ASSERT_EQ(static_cast<std::int32_t>(call.code()), pair.response->code) << call.remark();
        EXPECT_EQ(call.field("queueId"), pair.response->find("queueId").value_or(""));
        EXPECT_EQ(call.field("transactionId"), pair.response->find("transactionId").value_or(""));
        translation.learn(*pair.response, call.response());
    }
    EXPECT_GT(answers, 0);
}

TEST_F(TransactionTest, EndingsAreAnsweredAsRecorded) { replay(begin(), "raw-end-transaction", "RwT"); }

TEST_F(TransactionTest, AGoProducerIsAnsweredAsRecorded) { replay(begin(), "go-transaction", "GoTopic"); }

}  // namespace
}  // namespace patchbay::plugins::transaction
