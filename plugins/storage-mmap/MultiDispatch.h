// MultiDispatch: the further queues of a message that RocketMQ's multi-dispatch put into several (%LMQ%…).
#pragma once

#include "patchbay/protocol/message/Names.h"
#include "patchbay/protocol/message/Properties.h"
#include "patchbay/protocol/message/PropertyNames.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace patchbay::mmapstore {

/// Whether messages of a topic go to further queues. Not so what waits there for its time or its commit: it does when it is delivered.
[[nodiscard]] inline bool hasFurtherQueues(std::string_view topic) noexcept {
    return !protocol::isRetryTopic(topic) && !topic.starts_with(protocol::kSystemTopicPrefix) && topic != protocol::kTopicSchedule &&
           topic != protocol::kTopicTransHalf;
}

/// The list of INNER_MULTI_DISPATCH; commas at its end do not count.
[[nodiscard]] inline std::string_view furtherNamesOf(std::string_view properties) noexcept {
    std::string_view names = protocol::findProperty(properties, protocol::kPropertyInnerMultiDispatch);
    while (names.ends_with(',')) names.remove_suffix(1);
    return names.find_first_not_of(' ') == std::string_view::npos ? std::string_view() : names;
}

/// Calls `visit(name)` for each name of such a list.
template <typename Visit>
void forEachName(std::string_view names, Visit visit) {
    while (!names.empty()) {
        const std::string_view name = names.substr(0, names.find(','));
        names.remove_prefix(std::min(names.size(), name.size() + 1));
        visit(name);
    }
}

inline constexpr std::size_t kFurtherNameBytesMax = 255;  // a directory

/// Of others RocketMQ writes no number, and then its dispatch stands still for ever.
[[nodiscard]] inline bool isFurtherName(std::string_view name) noexcept {
    return name.starts_with(protocol::kLmqPrefix) && name.size() <= kFurtherNameBytesMax && name.find('/') == std::string_view::npos;
}

/// Calls `visit(name, offset)` for each of them; such a queue has the number 0. Two lists with commas, in the same order; names
/// of other kinds have no offset and are passed over, and names with a slash cannot be directories.
template <typename Visit>
void forEachFurtherQueue(std::string_view properties, Visit visit) {
    std::string_view names = protocol::findProperty(properties, protocol::kPropertyInnerMultiDispatch);
    if (names.empty()) return;
    std::string_view offsets = protocol::findProperty(properties, protocol::kPropertyInnerMultiQueueOffset);
    while (!names.empty()) {
        const std::string_view name = names.substr(0, names.find(','));
        const std::string_view text = offsets.substr(0, offsets.find(','));
        names.remove_prefix(std::min(names.size(), name.size() + 1));
        offsets.remove_prefix(std::min(offsets.size(), text.size() + 1));
        std::int64_t offset = -1;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), offset);
        const bool usable = error == std::errc() && end == text.data() + text.size() && offset >= 0;
        if (usable && name.starts_with(protocol::kLmqPrefix) && name.find('/') == std::string_view::npos) visit(name, offset);
    }
}

}  // namespace patchbay::mmapstore
