// ConfigCopy: the broker's config directory beside its copy in the database.
#pragma once

#include "ConfigSnapshot.h"

#include "patchbay/base/FileSystem.h"
#include "patchbay/plugin/Logger.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace patchbay::plugins::sqlite {

/// Reads the files that other plugins keep in `config/`, in RocketMQ's forms, and puts back what is missing. Owned by the plugin; one
/// thread at a time. A file that cannot be read, or is larger than kFileBytesMax, is named in the log once; its last copy stays.
class ConfigCopy {
public:
    ConfigCopy(FileSystem& files, std::string directory, plugin::Logger& log) : files_(files), directory_(std::move(directory)), log_(log) {}

    /// Writes those of the `kept` files that are not there, or are JSON files and empty (which a power cut or a full disk leaves), with the text that `textOf` gives for a name; before their owners read them.
    /// A file whose backup is there is not missing, and a journal goes with the file that it continues. The names of what was written;
    /// after a failure some of it may be there.
    Result<std::vector<std::string>> putBack(const std::vector<std::string>& kept, const std::function<Result<std::string>(const std::string& name)>& textOf);
    /// What has changed since the last look; everything at the first one.
    [[nodiscard]] ConfigSnapshot look();
    /// What look() found has not been kept: the next look finds it again.
    void forget();

    /// Three times what a broker of 100,000 topics has in topics.json.
    static constexpr std::uint64_t kFileBytesMax = 64U << 20;

private:
    void take(const FileInfo& file, ConfigSnapshot& found);
    void readOffsets(const std::string& text, ConfigSnapshot& found);
    [[nodiscard]] bool isMissing(const std::string& name) const;
    [[nodiscard]] bool hasContent(const std::string& name) const;

    FileSystem& files_;
    const std::string directory_;
    plugin::Logger& log_;
    std::map<std::string, std::size_t> known_;    // what the database has: name → hash of the text, or one of the two below
    std::map<std::string, std::size_t> offsets_;  // and "topic@group" → hash of its offsets
    std::vector<std::string> gone_;               // of the last look
    bool offsetsKnown_ = false;                   // else the database has what an earlier process kept
    static constexpr std::size_t kLeftOut = 0;
    static constexpr std::size_t kOther = 1;      // some text
};

}  // namespace patchbay::plugins::sqlite
