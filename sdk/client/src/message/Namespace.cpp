#include "message/Namespace.h"

#include "patchbay/protocol/message/Names.h"

namespace patchbay::client {

namespace {

// How much of the name stands before the place of the namespace.
std::size_t fixedPart(std::string_view name) {
    if (protocol::isRetryTopic(name)) return protocol::kRetryTopicPrefix.size();
    if (protocol::isDlqTopic(name)) return protocol::kDlqTopicPrefix.size();
    return 0;
}

}  // namespace

std::string withNamespace(std::string_view nameSpace, std::string_view name) {
    const auto fixed = fixedPart(name);
    const auto rest = name.substr(fixed);
    const auto prefix = std::string(nameSpace) + "%";
    const bool system = protocol::isSystemTopicName(rest) || protocol::isSystemGroup(rest) || rest.ends_with(protocol::kReplyTopicSuffix);
    if (nameSpace.empty() || name.empty() || system || rest.starts_with(prefix)) return std::string(name);
    return std::string(name.substr(0, fixed)) + prefix + std::string(rest);
}

std::string withoutNamespace(std::string_view nameSpace, std::string_view name) {
    const auto fixed = fixedPart(name);
    const auto prefix = std::string(nameSpace) + "%";
    if (nameSpace.empty() || !name.substr(fixed).starts_with(prefix)) return std::string(name);
    return std::string(name.substr(0, fixed)) + std::string(name.substr(fixed + prefix.size()));
}

}  // namespace patchbay::client
