// Proved: consumers survive brokers that are slow, silent or gone, and tell what they could not do.
// How: scripted brokers on 127.0.0.1.
// Left to others: consumption itself (integration), what goes over the wire (wire_manners_test).
#include "ScriptedBroker.h"

#include "patchbay/client/PullConsumer.h"
#include "patchbay/client/PushConsumer.h"
#include "patchbay/protocol/message/MessageRecord.h"
#include "patchbay/testkit/TempDir.h"
#include "runtime/Runtime.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <optional>

namespace patchbay::test {
namespace {

using protocol::RemotingCommand;
using protocol::RequestCode;
using protocol::ResponseCode;
using Decided = std::optional<std::optional<RemotingCommand>>;
using namespace std::chrono_literals;

bool is(const RemotingCommand& command, RequestCode code) { return command.code == static_cast<std::int32_t>(code); }

client::ConsumerOptions consumerOf(const std::string& nameServers) {
    client::ConsumerOptions made;
    made.client.nameServers = nameServers;
    made.client.log = [](auto, auto) {};
    made.group = "g";
    made.from = client::ConsumeFrom::FirstOffset;
    made.offsetInterval = 100ms;
    return made;
}

/// What was posted to the loop so far has run, and what that has posted.
void settle() {
    for (int i = 0; i < 4; ++i) client::Runtime::process().call([] {});
}

// What is wrong here is seen under ASan.
TEST(AConsumer, IsGoneBeforeItsLastWriteOfProgressFails) {
    std::atomic<bool> answering{false};
    ScriptedBroker broker([&](const RemotingCommand& asked) {
        return is(asked, RequestCode::UpdateConsumerOffset) && !answering ? Decided(std::optional<RemotingCommand>()) : Decided();
    });
    {
        auto reader = client::PushConsumer::create(consumerOf(broker.server().address()));
        ASSERT_TRUE(reader);
        ASSERT_TRUE(reader->subscribe("T"));
        ASSERT_TRUE(reader->consume([](auto, auto&) { return client::ConsumeResult::Success; }));
        ASSERT_TRUE(broker.asked(RequestCode::UpdateConsumerOffset, 1));
        // The close writes once more and is answered; the first question fails with the client's end.
        answering = true;
    }
    settle();
    EXPECT_GE(broker.server().requests(RequestCode::UpdateConsumerOffset).size(), 2U);
}

TEST(AConsumer, SaysThatItsProgressWasNotTakenAndTellsItAgain) {
    std::atomic<bool> refusing{true};
    ScriptedBroker broker([&](const RemotingCommand& asked) {
        return is(asked, RequestCode::UpdateConsumerOffset) && refusing ? Decided(answerTo(asked, ResponseCode::SystemError)) : Decided();
    });
    auto options = consumerOf(broker.server().address());
    options.offsetInterval = 60s;
    auto reader = client::PullConsumer::create({.consumer = options, .autoCommit = false});
    ASSERT_TRUE(reader);
    ASSERT_TRUE(reader->subscribe("T"));
    ASSERT_EQ(reader->poll(10s)->size(), 1U);
    const auto refused = reader->commit();
    EXPECT_EQ(refused.code(), StatusCode::Internal) << refused.toString();
    EXPECT_FALSE(reader->commit());
    refusing = false;
    EXPECT_TRUE(reader->commit());
    const auto writes = broker.server().requests(RequestCode::UpdateConsumerOffset);
    ASSERT_EQ(writes.size(), 3U);
    EXPECT_EQ(writes.back().find("commitOffset"), "1");
    // There is nothing new to tell.
    EXPECT_TRUE(reader->commit());
    EXPECT_EQ(broker.server().requests(RequestCode::UpdateConsumerOffset).size(), 3U);
}

TEST(AConsumer, SaysThatItsFileOfProgressCannotBeWrittenAndWritesItLater) {
    ScriptedBroker broker;
    const testkit::TempDir folder;
    const auto blocked = folder.path() + "/offsets";
    std::ofstream(blocked) << "no folder";
    auto options = consumerOf(broker.server().address());
    options.model = client::ConsumerModel::Broadcasting;
    options.offsetInterval = 60s;
    options.offsetDirectory = blocked;
    std::atomic<int> warnings{0};
    options.client.log = [&](client::LogLevel level, std::string_view text) {
        if (level == client::LogLevel::Warn && text.find("cannot be written") != std::string_view::npos) ++warnings;
    };
    auto reader = client::PullConsumer::create({.consumer = options, .autoCommit = false});
    ASSERT_TRUE(reader);
    ASSERT_TRUE(reader->subscribe("T"));
    ASSERT_EQ(reader->poll(10s)->size(), 1U);
    EXPECT_FALSE(reader->commit());
    EXPECT_FALSE(reader->commit());
    EXPECT_EQ(warnings, 1);
    std::filesystem::remove(blocked);
    EXPECT_TRUE(reader->commit());
    std::size_t files = 0;
    for (const auto& one : std::filesystem::recursive_directory_iterator(blocked)) files += one.path().filename() == "offsets.json" ? 1U : 0U;
    EXPECT_EQ(files, 1U);
}

TEST(AConsumer, AsksTheNextBrokerForTheGroupsMembers) {
    std::string gone;
    {
        const ScriptedServer server([](const auto& asked) { return answerTo(asked); });
        gone = server.address();
    }
    std::string here;
    ScriptedBroker broker([&](const RemotingCommand& asked) -> Decided {
        if (!is(asked, RequestCode::GetRouteinfoByTopic)) return {};
        auto answer = answerTo(asked);
        answer.body = routeBody({{"broker-0", gone}, {"broker-a", here}}, 1);
        return std::optional(answer);
    });
    here = broker.server().address();
    auto reader = client::PullConsumer::create({.consumer = consumerOf(here)});
    ASSERT_TRUE(reader);
    ASSERT_TRUE(reader->subscribe("T"));
    const auto messages = reader->poll(10s);
    ASSERT_TRUE(messages);
    ASSERT_EQ(messages->size(), 1U);
    EXPECT_EQ(messages->front().brokerName(), "broker-a");
}

// The first message's outcome is still untold when the second one's listener gives the queue away.
TEST(AConsumer, CountsWhatWasConsumedBeforeAQueueWent) {
    ScriptedBroker broker([&](const RemotingCommand& asked) -> Decided {
        if (!is(asked, RequestCode::PullMessage) || asked.find("topic") != "T" || asked.find("queueOffset") != "0") return {};
        auto answer = answerTo(asked);
        for (const auto* field : {"suggestWhichBrokerId", "minOffset"}) answer.set(field, "0");
        for (const auto* field : {"nextBeginOffset", "maxOffset"}) answer.set(field, "2");
        for (std::int64_t offset = 0; offset < 2; ++offset) {
            protocol::RecordFields record;
            record.topic = "T";
            record.body = "x";
            record.queueOffset = offset;
            const auto begin = answer.body.size();
            answer.body.resize(begin + protocol::recordSize(record));
            protocol::encodeRecord(answer.body.data() + begin, record);
        }
        return std::optional(answer);
    });
    auto options = consumerOf(broker.server().address());
    options.offsetInterval = 60s;
    options.threads = 1;
    auto reader = client::PushConsumer::create(options);
    ASSERT_TRUE(reader);
    ASSERT_TRUE(reader->subscribe("T"));
    ASSERT_TRUE(reader->consume([&](auto messages, auto&) {
        if (messages.front().queueOffset() == 1) reader->unsubscribe("T");
        return client::ConsumeResult::Success;
    }));
    EXPECT_EQ(broker.first(RequestCode::UpdateConsumerOffset).find("commitOffset"), "1");
}

class Moody final : public client::AllocationStrategy {
public:
    std::vector<client::MessageQueue> allocate(std::string_view, std::span<const client::MessageQueue> queues, std::span<const std::string>) const override {
        if (++calls == 1) throw std::runtime_error("not today");
        return {queues.begin(), queues.end()};
    }
    std::string_view name() const noexcept override { return "MOODY"; }
    mutable std::atomic<int> calls{0};
};

TEST(AConsumer, SurvivesAStrategyThatThrows) {
    ScriptedBroker broker;
    auto options = consumerOf(broker.server().address());
    options.rebalanceInterval = 1000ms;
    const auto strategy = std::make_shared<Moody>();
    options.allocation = strategy;
    std::promise<void> logged;
    options.client.log = [&](client::LogLevel level, std::string_view text) {
        if (level == client::LogLevel::Error && text.find("not today") != std::string_view::npos) logged.set_value();
    };
    auto reader = client::PullConsumer::create({.consumer = options});
    ASSERT_TRUE(reader);
    ASSERT_TRUE(reader->subscribe("T"));
    EXPECT_EQ(reader->poll(10s)->size(), 1U);
    logged.get_future().wait();
    EXPECT_GE(strategy->calls, 2);
}

}  // namespace
}  // namespace patchbay::test
