// PropertiesFile: a Java properties file read so that every entry knows the line it stands on.
#pragma once

#include "app/Errors.h"
#include "patchbay/base/FileSystem.h"

#include <string>
#include <string_view>
#include <vector>

namespace patchbay::kernel {

struct PropertyEntry {
    std::string key;
    std::string value;             ///< unescaped, without blanks around it
    int line = 0;                  ///< of its first character, from 1
    bool trailingComment = false;  ///< the raw value held a blank followed by an unescaped '#'
};

/// The entries of one file, in order, duplicates kept. The rules are those of java.util.Properties, which operators' files
/// were written for: '=', ':' or a blank ends the key; lines end in LF or CRLF; a backslash at the end joins lines; \t \n \r
/// \f \\ \uXXXX and "\ anything" are escapes; '#' and '!' start a comment only as the first character of a line. Read as
/// UTF-8; a byte order mark is skipped. Blanks at the end of a value are dropped (RocketMQ trims as well).
/// A plain value.
class PropertiesFile {
public:
    /// Never fails: what is wrong goes to `problems` with `path` and line, the rest is read.
    static PropertiesFile parse(const std::string& path, std::string_view text, Problems& problems);
    /// PB-1001 when it cannot be read.
    static PropertiesFile read(FileSystem& files, const std::string& path, Problems& problems);

    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    [[nodiscard]] const std::vector<PropertyEntry>& entries() const noexcept { return entries_; }
    [[nodiscard]] std::string where(const PropertyEntry& entry) const { return path_ + ":" + std::to_string(entry.line); }

    /// `text` so that parse() gives it back, for a key or a value.
    static std::string escape(std::string_view text, bool isKey);

private:
    std::string path_;
    std::vector<PropertyEntry> entries_;
};

}  // namespace patchbay::kernel
