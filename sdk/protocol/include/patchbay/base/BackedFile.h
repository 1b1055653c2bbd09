// Reading a small state file that has a backup beside it: the counterpart of FileSystem::replaceAtomically().
#pragma once

#include "patchbay/base/FileSystem.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace patchbay {

/// Where the content came from, and what was wrong with the better place.
struct BackedContent {
    enum class Source : std::uint8_t { Main, Backup, Nothing };
    Source source = Source::Nothing;
    std::string problem;  ///< for a person; empty when nothing is wrong
};

/// Takes over a file's text or refuses it as damaged.
using AcceptContent = std::function<Status(std::string_view text)>;

/// Offers the content of `path` to `accept`, and when it is missing, empty, unreadable or refused that of `path`.bak. When
/// neither exists the answer is Nothing; an empty file without a backup is Nothing with a problem. A damaged main file is set aside as `path`.damaged, so that it does not become the
/// next backup. OutOfRange from `accept` is passed on: such a file is whole, only too large. Fails when no main file is usable and the backup is damaged: guessing would lose what a person may yet save.
[[nodiscard]] Result<BackedContent> readBacked(FileSystem& files, const std::string& path, const AcceptContent& accept);

}  // namespace patchbay
