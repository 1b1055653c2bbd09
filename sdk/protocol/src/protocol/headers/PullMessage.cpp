#include "patchbay/protocol/headers/PullMessage.h"

#include "FieldBinding.h"

#include <array>
#include <cstring>

namespace patchbay::protocol {

namespace {

// The required ones first.
constexpr std::array<std::string_view, 14> kKeys = {"consumerGroup",  "topic",
                                                    "queueId",        "queueOffset",
                                                    "maxMsgNums",     "sysFlag",
                                                    "commitOffset",   "suspendTimeoutMillis",
                                                    "subVersion",     "subscription",
                                                    "expressionType", "maxMsgBytes",
                                                    "requestSource",  "proxyFrowardClientId"};
constexpr std::uint32_t kRequired = (1U << 9) - 1;

std::size_t indexOf(std::string_view key) noexcept {
    std::size_t i = 0;
    while (i < kKeys.size() &&
           (kKeys[i].size() != key.size() || std::memcmp(kKeys[i].data(), key.data(), key.size()) != 0)) {
        ++i;
    }
    return i;
}

// False when the value is not the number that it has to be.
bool assign(PullMessageRequest& out, std::size_t index, std::string_view value) noexcept {
    switch (index) {
        case 0:
            out.consumerGroup = value;
            return true;
        case 1:
            out.topic = value;
            return true;
        case 2:
            return parseNumber(value, out.queueId);
        case 3:
            return parseNumber(value, out.queueOffset);
        case 4:
            return parseNumber(value, out.maxMsgNums);
        case 5:
            return parseNumber(value, out.sysFlag);
        case 6:
            return parseNumber(value, out.commitOffset);
        case 7:
            return parseNumber(value, out.suspendTimeoutMillis);
        case 8:
            return parseNumber(value, out.subVersion);
        case 9:
            out.subscription = value;
            return true;
        case 10:
            out.expressionType = value;
            return true;
        case 11:
            return parseNumber(value, out.maxMsgBytes.emplace());
        case 12:
            return parseNumber(value, out.requestSource.emplace());
        case 13:
            out.proxyForwardClientId = value;
            return true;
        default:
            return true;
    }
}

constexpr auto kPullMessageResponse = [](auto& f, auto& h) {
    f.required("suggestWhichBrokerId", h.suggestWhichBrokerId);
    f.required("nextBeginOffset", h.nextBeginOffset);
    f.required("minOffset", h.minOffset);
    f.required("maxOffset", h.maxOffset);
    f.optional("offsetDelta", h.offsetDelta);
    f.optional("topicSysFlag", h.topicSysFlag);
    f.optional("groupSysFlag", h.groupSysFlag);
    f.optional("forbiddenType", h.forbiddenType);
};

}  // namespace

// For every pull: one pass over the fields instead of a search for each.
Status PullMessageRequest::parse(const CommandView& command, PullMessageRequest& out) {
    out = PullMessageRequest{};
    std::uint32_t seen = 0;
    for (std::size_t i = 0; i < command.fieldCount(); ++i) {
        const FieldView field = command.field(i);
        if (field.value.data() == nullptr) continue;
        const std::size_t index = indexOf(field.key);
        if (!assign(out, index, field.value)) return badNumber(field.key, field.value);
        seen |= 1U << index;
    }
    const std::uint32_t missing = kRequired & ~seen;
    if (missing == 0) return Status::ok();
    return missingField(kKeys[static_cast<std::size_t>(__builtin_ctz(missing))]);
}

void PullMessageRequest::write(FieldList& fields) const {
    FieldEmitter f(fields);
    f.required(kKeys[0], consumerGroup);
    f.required(kKeys[1], topic);
    f.required(kKeys[2], queueId);
    f.required(kKeys[3], queueOffset);
    f.required(kKeys[4], maxMsgNums);
    f.required(kKeys[5], sysFlag);
    f.required(kKeys[6], commitOffset);
    f.required(kKeys[7], suspendTimeoutMillis);
    f.required(kKeys[8], subVersion);
    f.optional(kKeys[9], subscription);
    f.optional(kKeys[10], expressionType);
    f.optional(kKeys[11], maxMsgBytes);
    f.optional(kKeys[12], requestSource);
    f.optional(kKeys[13], proxyForwardClientId);
}

Result<PullMessageResponse> PullMessageResponse::parse(const CommandView& command) {
    return parseHeader<PullMessageResponse>(command, kPullMessageResponse);
}

void PullMessageResponse::write(FieldList& fields) const {
    writeHeader(*this, fields, kPullMessageResponse);
}

}  // namespace patchbay::protocol
