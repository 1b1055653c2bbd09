#include "TopicChunks.h"

namespace patchbay::plugins::registration {

namespace {

// Member names, numbers and punctuation of one topic's entry; what varies comes on top.
constexpr std::size_t kEntryBytes = 176;

std::size_t estimatedBytes(const protocol::TopicConfig& topic) {
    std::size_t bytes = kEntryBytes + 2 * topic.topicName.size();
    for (const auto& [name, value] : topic.attributes) bytes += name.size() + value.size() + 6;
    return bytes;
}

}  // namespace

std::deque<protocol::TopicConfigTable> splitTopics(std::vector<protocol::TopicConfig> topics, std::size_t topicsMax,
                                                   std::size_t bytesMax) {
    std::deque<protocol::TopicConfigTable> chunks(1);
    std::size_t bytes = 0;
    for (auto& topic : topics) {
        const std::size_t more = estimatedBytes(topic);
        const auto& last = chunks.back();
        if (!last.empty() && (bytes + more > bytesMax || (topicsMax > 0 && last.size() >= topicsMax))) {
            chunks.emplace_back();
            bytes = 0;
        }
        bytes += more;
        std::string name = topic.topicName;
        chunks.back().insert_or_assign(std::move(name), std::move(topic));
    }
    return chunks;
}

}  // namespace patchbay::plugins::registration
