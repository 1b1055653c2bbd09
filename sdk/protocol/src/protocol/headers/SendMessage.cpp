#include "patchbay/protocol/headers/SendMessage.h"

#include "FieldBinding.h"

#include "patchbay/protocol/RequestCode.h"

#include <array>
#include <cstring>

namespace patchbay::protocol {

namespace {

// The fields of a send in the order of their one-letter keys 'a' to 'n'.
constexpr std::array<std::string_view, 14> kLongKeys = {
    "producerGroup", "topic", "defaultTopic", "defaultTopicQueueNums", "queueId",  "sysFlag",
    "bornTimestamp", "flag",  "properties",   "reconsumeTimes",        "unitMode", "maxReconsumeTimes",
    "batch",         "bname"};
constexpr std::uint32_t kRequired =
    1U << ('b' - 'a') | 1U << ('e' - 'a') | 1U << ('f' - 'a') | 1U << ('g' - 'a') | 1U << ('h' - 'a');

bool hasLongKeys(std::int32_t code) noexcept {
    return code == static_cast<std::int32_t>(RequestCode::SendMessage) ||
           code == static_cast<std::int32_t>(RequestCode::SendReplyMessage);
}

// The letter that stands for a long key, or 0.
char letterOf(std::string_view key) noexcept {
    for (std::size_t i = 0; i < kLongKeys.size(); ++i) {
        if (kLongKeys[i].size() == key.size() && std::memcmp(kLongKeys[i].data(), key.data(), key.size()) == 0) {
            return static_cast<char>('a' + i);
        }
    }
    return 0;
}

// False when the value is not the number that it has to be.
bool assign(SendMessageRequest& out, char letter, std::string_view value) noexcept {
    switch (letter) {
        case 'a':
            out.producerGroup = value;
            return true;
        case 'b':
            out.topic = value;
            return true;
        case 'c':
            out.defaultTopic = value;
            return true;
        case 'd':
            return parseNumber(value, out.defaultTopicQueueNums);
        case 'e':
            return parseNumber(value, out.queueId);
        case 'f':
            return parseNumber(value, out.sysFlag);
        case 'g':
            return parseNumber(value, out.bornTimestamp);
        case 'h':
            return parseNumber(value, out.flag);
        case 'i':
            out.properties = value;
            return true;
        case 'j':
            return parseNumber(value, out.reconsumeTimes);
        case 'k':
            out.unitMode = parseBool(value);
            return true;
        case 'l':
            return parseNumber(value, out.maxReconsumeTimes.emplace());
        case 'm':
            out.batch = parseBool(value);
            return true;
        case 'n':
            out.brokerName = value;
            return true;
        default:
            return true;
    }
}

std::string_view keyOf(char letter, bool longKeys) noexcept {
    constexpr std::string_view kLetters = "abcdefghijklmn";
    const auto index = static_cast<std::size_t>(letter - 'a');
    return longKeys ? kLongKeys[index] : kLetters.substr(index, 1);
}

template <bool LongKeys>
void emit(const SendMessageRequest& h, FieldList& fields) {
    FieldEmitter f(fields);
    const auto key = [](char letter) { return keyOf(letter, LongKeys); };
    f.optional(key('a'), h.producerGroup);
    f.required(key('b'), h.topic);
    f.optional(key('c'), h.defaultTopic);
    f.optional(key('d'), h.defaultTopicQueueNums);
    f.required(key('e'), h.queueId);
    f.required(key('f'), h.sysFlag);
    f.required(key('g'), h.bornTimestamp);
    f.required(key('h'), h.flag);
    f.optional(key('i'), h.properties);
    f.optional(key('j'), h.reconsumeTimes);
    f.optional(key('k'), h.unitMode);
    f.optional(key('l'), h.maxReconsumeTimes);
    f.optional(key('m'), h.batch);
    f.optional(key('n'), h.brokerName);
}

constexpr auto kSendMessageResponse = [](auto& f, auto& h) {
    f.required("msgId", h.msgId);
    f.required("queueId", h.queueId);
    f.required("queueOffset", h.queueOffset);
    f.optional("transactionId", h.transactionId);
    f.optional("batchUniqId", h.batchUniqId);
    f.optional("recallHandle", h.recallHandle);
    f.optional("MSG_REGION", h.region);
    f.optional("TRACE_ON", h.traceOn);
};

constexpr auto kConsumerSendMsgBackRequest = [](auto& f, auto& h) {
    f.required("offset", h.offset);
    f.required("group", h.group);
    f.required("delayLevel", h.delayLevel);
    f.optional("originMsgId", h.originMsgId);
    f.optional("originTopic", h.originTopic);
    f.optional("unitMode", h.unitMode);
    f.optional("maxReconsumeTimes", h.maxReconsumeTimes);
};

}  // namespace

// For every message sent: one pass over the fields instead of a search for each.
Status SendMessageRequest::parse(const CommandView& command, SendMessageRequest& out) {
    out = SendMessageRequest{};
    const bool longKeys = hasLongKeys(command.code);
    std::uint32_t seen = 0;
    for (std::size_t i = 0; i < command.fieldCount(); ++i) {
        const FieldView field = command.field(i);
        if (field.value.data() == nullptr) continue;
        char letter = 0;
        if (longKeys) {
            letter = letterOf(field.key);
        } else if (field.key.size() == 1) {
            letter = field.key.front();
        }
        if (letter < 'a' || letter > 'n') continue;
        if (!assign(out, letter, field.value)) return badNumber(field.key, field.value);
        seen |= 1U << (letter - 'a');
    }
    const std::uint32_t missing = kRequired & ~seen;
    if (missing == 0) return Status::ok();
    return missingField(keyOf(static_cast<char>('a' + __builtin_ctz(missing)), longKeys));
}

void SendMessageRequest::write(FieldList& fields) const {
    emit<false>(*this, fields);
}

void SendMessageRequest::writeLong(FieldList& fields) const {
    emit<true>(*this, fields);
}

Result<SendMessageResponse> SendMessageResponse::parse(const CommandView& command) {
    return parseHeader<SendMessageResponse>(command, kSendMessageResponse);
}

void SendMessageResponse::write(FieldList& fields) const {
    writeHeader(*this, fields, kSendMessageResponse);
}

Result<ConsumerSendMsgBackRequest> ConsumerSendMsgBackRequest::parse(const CommandView& command) {
    return parseHeader<ConsumerSendMsgBackRequest>(command, kConsumerSendMsgBackRequest);
}

void ConsumerSendMsgBackRequest::write(FieldList& fields) const {
    writeHeader(*this, fields, kConsumerSendMsgBackRequest);
}

}  // namespace patchbay::protocol
