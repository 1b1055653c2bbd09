#include "patchbay/protocol/message/Names.h"

#include <algorithm>
#include <array>

namespace patchbay::protocol {
namespace {

bool isNameChar(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '%' || c == '|';
}

bool isBlank(std::string_view text) noexcept {
    return std::all_of(text.begin(), text.end(), [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); });
}

Status validateName(std::string_view what, std::string_view name, std::size_t charsMax) {
    const auto refuse = [what](std::string_view text) {
        return Status(StatusCode::InvalidArgument, "The specified " + std::string(what) + std::string(text));
    };
    if (isBlank(name)) return refuse(" is blank.");
    if (!std::all_of(name.begin(), name.end(), isNameChar)) {
        return refuse(" contains illegal characters, allowing only ^[%|a-zA-Z0-9_-]+$");
    }
    if (name.size() > charsMax) return refuse(" is longer than " + std::string(what) + " max length.");
    return Status::ok();
}

template <std::size_t N>
bool contains(const std::array<std::string_view, N>& names, std::string_view name) noexcept {
    return std::find(names.begin(), names.end(), name) != names.end();
}

std::string join(std::string_view a, std::string_view b) {
    std::string out;
    out.reserve(a.size() + b.size());
    return out.append(a).append(b);
}

constexpr std::array<std::string_view, 6> kForbiddenToSend = {
    kTopicSchedule, kTopicTransHalf, kTopicTransOpHalf, kTopicTransCheckMaxTime, kTopicSelfTest, kTopicOffsetMoved};

constexpr std::array<std::string_view, 4> kOtherSystemTopics = {kTopicAutoCreate, kTopicBenchmark, kTopicTrace,
                                                                kTopicCheckpoint};

constexpr std::array<std::string_view, 13> kSystemGroups = {
    "DEFAULT_CONSUMER",   "DEFAULT_PRODUCER",  "TOOLS_CONSUMER",       "SCHEDULE_CONSUMER",     "FILTERSRV_CONSUMER",
    "__MONITOR_CONSUMER", "SELF_TEST_P_GROUP", "SELF_TEST_C_GROUP",    "CLIENT_INNER_PRODUCER", "CID_ONS-HTTP-PROXY",
    "CID_ONSAPI_PULL",    "CID_ONSAPI_OWNER",  "CID_ONSAPI_PERMISSION"};

}  // namespace

Status validateTopicName(std::string_view topic) {
    return validateName("topic", topic, kTopicNameCharsMax);
}
Status validateGroupName(std::string_view group) {
    return validateName("group", group, kGroupNameCharsMax);
}

std::string retryTopic(std::string_view group) {
    return join(kRetryTopicPrefix, group);
}
std::string dlqTopic(std::string_view group) {
    return join(kDlqTopicPrefix, group);
}
std::string replyTopic(std::string_view cluster) {
    return join(cluster, kReplyTopicSuffix);
}

bool isSystemTopicName(std::string_view topic) noexcept {
    return topic.starts_with(kSystemTopicPrefix) || contains(kForbiddenToSend, topic) ||
           contains(kOtherSystemTopics, topic);
}

bool isForbiddenToSend(std::string_view topic) noexcept {
    return contains(kForbiddenToSend, topic);
}

bool isSystemGroup(std::string_view group) noexcept {
    return group.starts_with(kSystemGroupPrefix) || contains(kSystemGroups, group);
}

std::string permText(std::uint32_t perm) {
    std::string text = "---";
    if (isReadable(perm)) text[0] = 'R';
    if (isWriteable(perm)) text[1] = 'W';
    if (isInherited(perm)) text[2] = 'X';
    return text;
}

}  // namespace patchbay::protocol
