// TopicsConfig: the keys of the topics plugin.
#pragma once

#include "patchbay/plugin/Config.h"

#include <chrono>
#include <cstdint>
#include <span>
#include <string>

namespace patchbay::plugins::topics {

/// A copy of the configured values.
struct TopicsConfig {
    bool autoCreateTopic = true;
    std::int32_t defaultTopicQueueNums = 8;
    bool clusterTopic = true;
    bool brokerTopic = true;
    bool traceTopic = false;
    std::string traceTopicName;
    std::int32_t reviveQueueNum = 8;
    bool timerTopic = true;
    bool lmq = false;
    bool autoCreateGroup = true;
    bool createSystemGroup = true;
    std::chrono::milliseconds journalSync{1000};
    std::chrono::milliseconds journalQuiet{60'000};
    std::uint64_t journalBytesMax = 1U << 20;

    static std::span<const plugin::ConfigKey> keys() noexcept;
    static TopicsConfig from(const plugin::ConfigView& view);
    /// Only letters, digits and the signs of topic names may be in configured topic names.
    [[nodiscard]] Status check() const;
};

}  // namespace patchbay::plugins::topics
