// Proves that each header structure takes over all fields of the recorded frames of its codes and writes them back
// alike, and that a missing or unreadable field is refused by name. How: parse() and write() on every recorded frame,
// then fields dropped and spoilt one by one. Left to others: answers.
#include "GoldenFrames.h"

#include "patchbay/protocol/RemotingCommand.h"
#include "patchbay/protocol/headers/Admin.h"
#include "patchbay/protocol/headers/Client.h"
#include "patchbay/protocol/headers/ConsumerOffset.h"
#include "patchbay/protocol/headers/MessageQuery.h"
#include "patchbay/protocol/headers/NameServer.h"
#include "patchbay/protocol/headers/PullMessage.h"
#include "patchbay/protocol/headers/SendMessage.h"
#include "patchbay/protocol/headers/Transaction.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

namespace patchbay::protocol {
namespace {

using Fields = std::map<std::string, std::string>;
using RoundTrip = Status (*)(const CommandView&, FieldList&);

template <typename Header>
Result<Header> parseAny(const CommandView& view) {
    if constexpr (requires(Header h) { Header::parse(view, h); }) {
        Header header;
        if (Status parsed = Header::parse(view, header); !parsed) return parsed;
        return header;
    } else {
        return Header::parse(view);
    }
}

template <typename Header>
Status roundTrip(const CommandView& view, FieldList& out) {
    const Result<Header> header = parseAny<Header>(view);
    if (!header) return header.error();
    header->write(out);
    return Status::ok();
}

Status roundTripLongSend(const CommandView& view, FieldList& out) {
    const Result<SendMessageRequest> header = parseAny<SendMessageRequest>(view);
    if (!header) return header.error();
    header->writeLong(out);
    return Status::ok();
}

const std::map<int, RoundTrip> kRequests = {
    {10, roundTripLongSend},
    {324, roundTripLongSend},
    {310, roundTrip<SendMessageRequest>},
    {320, roundTrip<SendMessageRequest>},
    {325, roundTrip<SendMessageRequest>},
    {11, roundTrip<PullMessageRequest>},
    {361, roundTrip<PullMessageRequest>},
    {12, roundTrip<QueryMessageRequest>},
    {14, roundTrip<QueryConsumerOffsetRequest>},
    {15, roundTrip<UpdateConsumerOffsetRequest>},
    {17, roundTrip<CreateTopicRequest>},
    {29, roundTrip<SearchOffsetRequest>},
    {30, roundTrip<QueueRequest>},
    {31, roundTrip<QueueRequest>},
    {32, roundTrip<QueueRequest>},
    {33, roundTrip<ViewMessageRequest>},
    {35, roundTrip<UnregisterClientRequest>},
    {36, roundTrip<ConsumerSendMsgBackRequest>},
    {37, roundTrip<EndTransactionRequest>},
    {38, roundTrip<ConsumerGroupRequest>},
    {39, roundTrip<CheckTransactionStateRequest>},
    {40, roundTrip<ConsumerGroupRequest>},
    {100, roundTrip<KvConfigRequest>},
    {101, roundTrip<KvConfigRequest>},
    {102, roundTrip<KvConfigRequest>},
    {103, roundTrip<RegisterBrokerRequest>},
    {104, roundTrip<UnregisterBrokerRequest>},
    {105, roundTrip<RouteRequest>},
    {202, roundTrip<TopicRequest>},
    {203, roundTrip<ConsumerGroupRequest>},
    {204, roundTrip<ProducerGroupRequest>},
    {205, roundTrip<BrokerNameRequest>},
    {207, roundTrip<DeleteSubscriptionGroupRequest>},
    {208, roundTrip<GetConsumeStatsRequest>},
    {215, roundTrip<TopicRequest>},
    {216, roundTrip<DeleteTopicInNamesrvRequest>},
    {219, roundTrip<KvNamespaceRequest>},
    {224, roundTrip<TopicsByClusterRequest>},
    {300, roundTrip<TopicRequest>},
    {322, roundTrip<QueryDataVersionRequest>},
    {327, roundTrip<BrokerNameRequest>},
    {351, roundTrip<TopicRequest>},
    {352, roundTrip<GroupRequest>},
    {901, roundTrip<BrokerMemberGroupRequest>},
    {904, roundTrip<BrokerHeartbeatRequest>},
};

const std::map<int, RoundTrip> kResponses = {
    {10, roundTrip<SendMessageResponse>},
    {310, roundTrip<SendMessageResponse>},
    {320, roundTrip<SendMessageResponse>},
    {325, roundTrip<SendMessageResponse>},
    {11, roundTrip<PullMessageResponse>},
    {361, roundTrip<PullMessageResponse>},
    {12, roundTrip<QueryMessageResponse>},
    {14, roundTrip<OffsetResponse>},
    {29, roundTrip<OffsetResponse>},
    {30, roundTrip<OffsetResponse>},
    {31, roundTrip<OffsetResponse>},
    {32, roundTrip<StoreTimeResponse>},
    {26, roundTrip<GetBrokerConfigResponse>},
    {101, roundTrip<KvConfigResponse>},
    {103, roundTrip<RegisterBrokerResponse>},
    {205, roundTrip<WipeWritePermResponse>},
    {322, roundTrip<QueryDataVersionResponse>},
    {327, roundTrip<AddWritePermResponse>},
};

// Members of header classes' parents and fields that stand beside any header class: not part of the structures.
const std::set<std::string> kBesides = {
    "ns",        "nsd",       "oway",          "lo",          "bname",       "ReqT",
    "AccessKey", "Signature", "SecurityToken", "__ZONE_MODE", "__ZONE_NAME", "topicFilterType"};

// Members of the structures, primitive in Java or defaulted there, that a peer may leave out and we write.
const std::set<std::string> kDefaulted = {"a",
                                          "d",
                                          "j",
                                          "k",
                                          "m",
                                          "unitMode",
                                          "batch",
                                          "defaultTopicQueueNums",
                                          "reconsumeTimes",
                                          "fromTransactionCheck",
                                          "compressed",
                                          "bodyCrc32",
                                          "topicSysFlag",
                                          "cleanOffset",
                                          "_UNIQUE_KEY_QUERY"};

Fields written(const FieldList& list) {
    Fields fields;
    list.forEach([&](std::string_view key, std::string_view value) { fields.emplace(key, value); });
    return fields;
}

void expectAlike(const std::string& where, const CommandView& view, const Fields& ours) {
    Fields theirs;
    for (std::size_t i = 0; i < view.fieldCount(); ++i) {
        const FieldView field = view.field(i);
        if (field.value.data() != nullptr) theirs.emplace(field.key, field.value);
    }
    for (const auto& [key, value] : ours) {
        const auto found = theirs.find(key);
        if (found == theirs.end()) {
            EXPECT_TRUE(kDefaulted.contains(key)) << where << ": wrote " << key << " that was not there";
        } else {
            // One recorded frame says "maybe".
            const std::string& theirValue = value == "false" && found->second == "maybe" ? value : found->second;
            EXPECT_EQ(value, theirValue) << where << ": " << key;
        }
    }
    for (const auto& [key, value] : theirs) {
        EXPECT_TRUE(ours.contains(key) || kBesides.contains(key)) << where << ": lost " << key << '=' << value;
    }
}

TEST(HeaderStructures, TakeOverEveryFieldOfTheRecordedFrames) {
    std::map<int, int> requests;
    std::map<int, int> responses;
    golden::forEachFrame([&](const golden::Frame& frame) {
        const auto& table = frame.response ? kResponses : kRequests;
        const auto entry = table.find(frame.requestCode);
        if (entry == table.end()) return;
        // Other listeners and refused requests answer without the header of a success.
        if (frame.response && frame.answerCode != 0) return;
        std::string bytes = frame.bytes.substr(4);
        CommandView view;
        ASSERT_TRUE(CommandView::decode(bytes, view)) << frame.where;
        FieldList list;
        const Status status = entry->second(view, list);
        if (!status) {
            EXPECT_FALSE(frame.response) << frame.where << ": " << status.toString();
            EXPECT_NE(frame.answerCode.value_or(1), 0) << frame.where << ": " << status.toString();
            return;
        }
        expectAlike(frame.where, view, written(list));
        (frame.response ? responses : requests)[frame.requestCode] += 1;
    });
    for (const auto& [code, roundTripOfCode] : kRequests) {
        EXPECT_GT(requests[code], 0) << "no recorded request of code " << code;
    }
    for (const auto& [code, roundTripOfCode] : kResponses) {
        EXPECT_GT(responses[code], 0) << "no recorded answer of code " << code;
    }
}

// A request as its bytes, and the view of it.
class Request {
public:
    Request(int code, const Fields& fields) {
        RemotingCommand command;
        command.code = code;
        for (const auto& [key, value] : fields)
            command.set(key, value);
        bytes_ = command.encode(SerializeType::Json).value().substr(4);
        EXPECT_TRUE(CommandView::decode(bytes_, view_));
    }
    [[nodiscard]] const CommandView& view() const noexcept { return view_; }

private:
    std::string bytes_;
    CommandView view_;
};

Status parsed(int code, const Fields& fields) {
    const Request request(code, fields);
    FieldList list;
    return kRequests.at(code)(request.view(), list);
}

const Fields kPull = {{"consumerGroup", "g"}, {"topic", "t"},       {"queueId", "1"},
                      {"queueOffset", "2"},   {"maxMsgNums", "32"}, {"sysFlag", "2"},
                      {"commitOffset", "0"},  {"subVersion", "17"}, {"suspendTimeoutMillis", "15000"}};
const Fields kCreateTopic = {{"topic", "t"},    {"defaultTopic", "TBW102"}, {"readQueueNums", "4"},
                             {"perm", "6"},     {"writeQueueNums", "4"},    {"topicFilterType", "SINGLE_TAG"},
                             {"order", "false"}};
const Fields kSend = {{"b", "t"}, {"e", "1"}, {"f", "0"}, {"g", "1795971770737"}, {"h", "0"}};
const Fields kLongSend = {{"topic", "t"}, {"queueId", "1"}, {"sysFlag", "0"}, {"bornTimestamp", "17"}, {"flag", "0"}};
const std::map<int, Fields> kMinimal = {{10, kLongSend},
                                        {11, kPull},
                                        {17, kCreateTopic},
                                        {30, {{"topic", "t"}, {"queueId", "0"}}},
                                        {215, {{"topic", "t"}}},
                                        {310, kSend},
                                        {361, kPull},
                                        {14, {{"topic", "t"}, {"queueId", "0"}, {"consumerGroup", "g"}}}};

TEST(HeaderStructures, RefuseEveryMissingRequiredFieldByItsName) {
    for (const auto& [code, fields] : kMinimal) {
        EXPECT_TRUE(parsed(code, fields)) << code << ": " << parsed(code, fields).toString();
        for (const auto& [key, value] : fields) {
            Fields fewer = fields;
            fewer.erase(key);
            const Status status = parsed(code, fewer);
            EXPECT_EQ(status.code(), StatusCode::InvalidArgument) << code << " without " << key;
            EXPECT_NE(status.message().find('\'' + key + '\''), std::string::npos) << code << ": " << status.message();
        }
    }
}

TEST(HeaderStructures, RefuseEveryNumberThatIsNone) {
    const std::set<std::string> texts = {"consumerGroup", "topic", "defaultTopic", "topicFilterType", "order", "b"};
    for (const auto& [code, fields] : kMinimal) {
        for (const auto& [key, value] : fields) {
            if (texts.contains(key)) continue;
            for (const char* bad : {"abc", "1e3", "", " 1 ", "1.0", "0x1", "9223372036854775808", "-", "+-1"}) {
                Fields spoilt = fields;
                spoilt[key] = bad;
                const Status status = parsed(code, spoilt);
                EXPECT_EQ(status.code(), StatusCode::InvalidArgument) << code << ": " << key << '=' << bad;
                EXPECT_NE(status.message().find('\'' + key + '\''), std::string::npos) << status.message();
            }
        }
    }
}

TEST(HeaderStructures, TakeNumbersToTheEndsOfTheirRange) {
    Fields fields = kPull;
    fields["queueId"] = "-2147483648";
    fields["queueOffset"] = "9223372036854775807";
    fields["maxMsgNums"] = "+007";
    const Request request(11, fields);
    PullMessageRequest pull;
    ASSERT_TRUE(PullMessageRequest::parse(request.view(), pull));
    EXPECT_EQ(pull.queueId, INT32_MIN);
    EXPECT_EQ(pull.queueOffset, INT64_MAX);
    EXPECT_EQ(pull.maxMsgNums, 7);
    fields["queueId"] = "2147483648";
    EXPECT_FALSE(parsed(11, fields));
}

TEST(HeaderStructures, KeepTheBrokersOwnChecksForWhatItAnswersItself) {
    EXPECT_TRUE(parsed(105, {}));
    EXPECT_TRUE(parsed(100, {{"key", "k"}}));
    EXPECT_TRUE(parsed(15, {{"consumerGroup", "g"}, {"topic", "t"}}));
}

TEST(HeaderStructures, CountAnEmptyOptionalNumberAsAbsentAndRefuseABrokenOne) {
    Fields fields = kCreateTopic;
    fields["topicSysFlag"] = "";
    EXPECT_TRUE(parsed(17, fields));
    fields["topicSysFlag"] = "x";
    EXPECT_FALSE(parsed(17, fields));
}

TEST(HeaderStructures, ReadBooleansAsJavaDoes) {
    for (const auto& [text, expected] : std::map<std::string, bool>{{"true", true},
                                                                    {"TRUE", true},
                                                                    {"True", true},
                                                                    {"1", false},
                                                                    {"yes", false},
                                                                    {"", false},
                                                                    {"false", false}}) {
        Fields fields = kSend;
        fields["m"] = text;
        const Request request(320, fields);
        SendMessageRequest send;
        ASSERT_TRUE(SendMessageRequest::parse(request.view(), send));
        EXPECT_EQ(send.batch, expected) << text;
    }
}

TEST(HeaderStructures, GoByTheCodeWhenTheyReadASend) {
    Fields both = kSend;
    both.insert(kLongSend.begin(), kLongSend.end());
    both["queueId"] = "5";
    const Request shortKeys(310, both);
    const Request longKeys(10, both);
    SendMessageRequest send;
    ASSERT_TRUE(SendMessageRequest::parse(shortKeys.view(), send));
    EXPECT_EQ(send.queueId, 1);
    ASSERT_TRUE(SendMessageRequest::parse(longKeys.view(), send));
    EXPECT_EQ(send.queueId, 5);
}

TEST(HeaderStructures, ReadTheBoundaryInAnyCaseAndTakeTheLowerOneOtherwise) {
    Fields fields = {{"topic", "t"}, {"queueId", "0"}, {"timestamp", "5"}};
    const auto upper = [&fields] { return SearchOffsetRequest::parse(Request(29, fields).view()).value().upper(); };
    EXPECT_FALSE(upper());
    fields["boundaryType"] = "UPPER";
    EXPECT_TRUE(upper());
    fields["boundaryType"] = "uppermost";
    EXPECT_FALSE(upper());
}

}  // namespace
}  // namespace patchbay::protocol
