// Layout: where RocketMQ keeps what below a store's root, and how its numbered files are named.
#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::mmapstore {

inline constexpr std::size_t kFileNameDigits = 20;

/// RocketMQ's kinds of consume queues; all queues of a topic are of one.
enum class QueueKind : std::uint8_t {
    Simple,  ///< a unit a message, at the place that its offset says
    Batch,   ///< a unit a record, which may hold several messages; topics with the attribute queue.type=BatchCQ
};

/// Twenty digits: the offset of the file's first byte in its sequence.
[[nodiscard]] inline std::string fileName(std::int64_t offset) {
    std::string digits = std::to_string(offset);
    return std::string(kFileNameDigits - digits.size(), '0') + digits;
}

/// Nothing for names that are not twenty digits within an int64.
[[nodiscard]] inline std::optional<std::int64_t> parseFileName(std::string_view name) noexcept {
    if (name.size() != kFileNameDigits || name.front() != '0') return std::nullopt;
    std::int64_t value = 0;
    for (const char c : name) {
        if (c < '0' || c > '9') return std::nullopt;
        if (value > (INT64_MAX - 9) / 10) return std::nullopt;
        value = value * 10 + (c - '0');
    }
    return value;
}

/// Paths of one store. A value; constant after it is built.
struct Layout {
    std::string root;
    std::vector<std::string> logs;  ///< directories of the commit log, at least one; they may be elsewhere
    std::size_t logsWritten = 1;    ///< the first so many get new files, the rest are only read

    [[nodiscard]] std::string queues(QueueKind kind = QueueKind::Simple) const {
        return root + (kind == QueueKind::Batch ? "/batchconsumequeue" : "/consumequeue");
    }
    [[nodiscard]] std::string topic(std::string_view name, QueueKind kind = QueueKind::Simple) const {
        return queues(kind) + "/" + std::string(name);
    }
    [[nodiscard]] std::string queue(std::string_view topicName, std::int32_t id, QueueKind kind = QueueKind::Simple) const {
        return topic(topicName, kind) + "/" + std::to_string(id);
    }
    /// Of the extensions of simple queues.
    [[nodiscard]] std::string extensions() const { return root + "/consumequeue_ext"; }
    [[nodiscard]] std::string extension(std::string_view topicName, std::int32_t id) const {
        return extensions() + "/" + std::string(topicName) + "/" + std::to_string(id);
    }
    /// Directories on their way out; nothing else ever lies here, and a start empties it.
    [[nodiscard]] std::string discarded() const { return root + "/discarded"; }
    /// What a start did not understand; it stays there until a person looks.
    [[nodiscard]] std::string aside() const { return root + "/aside"; }
    [[nodiscard]] std::string lastStop() const { return root + "/lastStop"; }
    /// A Java broker leaves it whenever it has started.
    [[nodiscard]] std::string abortBackup() const { return root + "/abort.bak"; }
    [[nodiscard]] std::string deletedTopics() const { return root + "/deletedTopics"; }
    [[nodiscard]] std::string index() const { return root + "/index"; }
    [[nodiscard]] std::string checkpoint() const { return root + "/checkpoint"; }
    [[nodiscard]] std::string abort() const { return root + "/abort"; }
};

}  // namespace patchbay::mmapstore
