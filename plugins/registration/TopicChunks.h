// How many topics go into one registration.
#pragma once

#include "patchbay/protocol/route/TopicConfig.h"

#include <cstddef>
#include <deque>
#include <vector>

namespace patchbay::plugins::registration {

/// The size that a registration's body shall not exceed. A quarter of the largest frame, because sizes are estimated, and
/// because a name server keeps its other askers waiting while it takes in a large one.
inline constexpr std::size_t kChunkBytes = 4U << 20;

/// Tables of at most `topicsMax` topics (0: no limit) and about `bytesMax` bytes as JSON, together all of `topics`. At least
/// one, which may be empty.
[[nodiscard]] std::deque<protocol::TopicConfigTable> splitTopics(std::vector<protocol::TopicConfig> topics,
                                                                 std::size_t topicsMax, std::size_t bytesMax = kChunkBytes);

}  // namespace patchbay::plugins::registration
