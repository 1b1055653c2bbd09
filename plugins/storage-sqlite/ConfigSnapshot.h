// ConfigSnapshot: what has changed in the broker's own files.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace patchbay::plugins::sqlite {

/// The broker's own files at one moment, as far as they changed. A value.
struct ConfigSnapshot {
    struct Offset {
        std::string group;
        std::string topic;
        std::int32_t queueId;
        std::int64_t next;
    };
    std::vector<Offset> offsets;
    bool allOffsets = false;                                 ///< what is not in `offsets` is gone
    std::vector<std::pair<std::string, std::string>> goneOffsets;  ///< group, topic
    std::vector<std::pair<std::string, std::string>> files;  ///< name in config/, text
    std::vector<std::string> goneFiles;
    [[nodiscard]] bool empty() const noexcept { return offsets.empty() && !allOffsets && goneOffsets.empty() && files.empty() && goneFiles.empty(); }
};

}  // namespace patchbay::plugins::sqlite
