// ConfigCopy: what changed in the broker's config directory since the last look.
#pragma once

#include "MessageTables.h"

#include "patchbay/base/FileSystem.h"
#include "patchbay/plugin/Logger.h"

#include <map>
#include <string>

namespace patchbay::plugins::sqlite {

/// Reads the files that other plugins keep in `config/`, in RocketMQ's forms. Owned by the plugin; one thread at a time. A file
/// that cannot be read, or is larger than kFileBytesMax, is left out and named in the log once.
class ConfigCopy {
public:
    ConfigCopy(FileSystem& files, std::string directory, plugin::Logger& log) : files_(files), directory_(std::move(directory)), log_(log) {}

    /// What is new; everything at the first call.
    [[nodiscard]] ConfigSnapshot look();
    /// What look() found has not been kept: the next look finds it again.
    void forget() { known_.clear(); }

    static constexpr std::uint64_t kFileBytesMax = 4U << 20;

private:
    void take(const FileInfo& file, ConfigSnapshot& found);
    void readOffsets(const std::string& text, ConfigSnapshot& found);

    FileSystem& files_;
    const std::string directory_;
    plugin::Logger& log_;
    std::map<std::string, std::size_t> known_;  // name → hash of the text, kLeftOut for one that was left out
};

}  // namespace patchbay::plugins::sqlite
