// StoreLock: the lock that keeps two processes from one data directory.
#pragma once

#include "patchbay/base/FileSystem.h"

#include <memory>
#include <string>
#include <string_view>

namespace patchbay {

/// Of docs/errors.md, for those who have no numbered list of their own.
inline constexpr std::string_view kDirectoryInUse = "PB-1004 ";

/// The file `lock` in `directory`, made with the directory when they are missing. In a storePathRootDir it is RocketMQ's own, so that a Java
/// broker is kept away, too, and keeps us away. Busy: somebody has it; the text, without a number, names the directory, the holder where
/// that can be found out, and what to do, where `key` sets the directory.
[[nodiscard]] Result<std::unique_ptr<FileLock>> lockStore(FileSystem& files, const std::string& directory,
                                                          std::string_view key = "storePathRootDir");

}  // namespace patchbay
