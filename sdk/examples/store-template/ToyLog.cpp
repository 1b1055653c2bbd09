#include "ToyLog.h"

#include "patchbay/protocol/util/BigEndian.h"
#include "patchbay/protocol/util/Crc32.h"

#include <optional>
#include <utility>

namespace toy {

using namespace patchbay;

namespace {

constexpr std::size_t kHeadBytes = 9;  // kind, length, checksum
constexpr std::uint64_t kFileBytesMax = 1ULL << 32;

std::uint32_t checksum(char kind, std::string_view text) { return protocol::crc32(text) ^ static_cast<std::uint32_t>(kind); }

/// The text of the entry at the beginning of `bytes`, or nothing when it is not whole.
std::optional<std::string_view> wholeEntry(std::string_view bytes) {
    if (bytes.size() < kHeadBytes) return std::nullopt;
    const auto length = static_cast<std::uint32_t>(protocol::loadI32(bytes.data() + 1));
    if (length > bytes.size() - kHeadBytes) return std::nullopt;
    const auto text = bytes.substr(kHeadBytes, length);
    if (static_cast<std::uint32_t>(protocol::loadI32(bytes.data() + 5)) != checksum(bytes.front(), text)) return std::nullopt;
    return text;
}

/// A crash leaves the last entries unfinished. When a whole one stands behind a broken one, something else has changed the file. Its place
/// is looked for byte by byte, because the length of the broken one may be what is wrong.
bool wholeEntryIn(std::string_view bytes) {
    for (; bytes.size() >= kHeadBytes; bytes.remove_prefix(1)) {
        const auto kind = static_cast<ToyLog::Kind>(bytes.front());
        if (kind != ToyLog::Kind::Group && kind != ToyLog::Kind::TopicDeleted && kind != ToyLog::Kind::Trimmed) continue;
        if (wholeEntry(bytes)) return true;
    }
    return false;
}

}  // namespace

Status ToyLog::open(const std::string& path, const Replay& replay) {
    auto file = files_.open(path, OpenMode::Create);
    if (!file) return file.error();
    // A new file's name has to survive a power cut as well.
    if (Status named = files_.syncDirectory(directoryOf(path)); !named) return named;
    const auto content = files_.readAll(path, kFileBytesMax);
    if (!content) return content.error();
    std::string_view rest = *content;
    while (const auto text = wholeEntry(rest)) {
        replay(static_cast<Kind>(rest.front()), *text);
        rest.remove_prefix(kHeadBytes + text->size());
    }
    end_ = content->size() - rest.size();
    if (wholeEntryIn(rest)) {
        return {StatusCode::Corrupt, path + ": the entry at byte " + std::to_string(end_) + " is damaged and good ones stand behind it; nothing is cut off"};
    }
    tornBytes_ = rest.size();
    torn_ = !rest.empty();
    gathered_.clear();
    syncFailure_ = Status::ok();
    file_ = std::move(*file);
    return Status::ok();
}

void ToyLog::add(Kind kind, std::string_view text) {
    const std::size_t at = gathered_.size();
    gathered_.resize(at + kHeadBytes);
    gathered_[at] = static_cast<char>(kind);
    protocol::storeI32(gathered_.data() + at + 1, static_cast<std::int32_t>(text.size()));
    protocol::storeI32(gathered_.data() + at + 5, static_cast<std::int32_t>(checksum(static_cast<char>(kind), text)));
    gathered_ += text;
}

Status ToyLog::write() {
    const std::string bytes = std::exchange(gathered_, {});
    if (!syncFailure_) return syncFailure_;
    if (torn_) {
        if (Status cut = file_->truncate(end_); !cut) return cut;
        torn_ = false;
    }
    Status written = file_->writeAt(bytes, end_);
    if (written) {
        end_ += bytes.size();
    } else {
        torn_ = true;
    }
    return written;
}

Status ToyLog::sync() {
    if (!syncFailure_) return syncFailure_;
    syncFailure_ = file_->sync();
    return syncFailure_;
}

}  // namespace toy
