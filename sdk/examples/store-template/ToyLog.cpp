#include "ToyLog.h"

#include "patchbay/protocol/util/BigEndian.h"
#include "patchbay/protocol/util/Crc32.h"

namespace toy {

using namespace patchbay;

namespace {

constexpr std::size_t kHeadBytes = 9;  // kind, length, checksum
constexpr std::uint64_t kFileBytesMax = 1ULL << 32;

std::uint32_t checksum(char kind, std::string_view text) { return protocol::crc32(text) ^ static_cast<std::uint32_t>(kind); }

}  // namespace

Status ToyLog::open(const std::string& path, const Replay& replay) {
    auto file = files_.open(path, OpenMode::Create);
    if (!file) return file.error();
    const auto content = files_.readAll(path, kFileBytesMax);
    if (!content) return content.error();
    std::string_view rest = *content;
    while (rest.size() >= kHeadBytes) {
        const auto length = static_cast<std::uint32_t>(protocol::loadI32(rest.data() + 1));
        if (length > rest.size() - kHeadBytes) break;
        const auto text = rest.substr(kHeadBytes, length);
        if (static_cast<std::uint32_t>(protocol::loadI32(rest.data() + 5)) != checksum(rest.front(), text)) break;
        replay(static_cast<Kind>(rest.front()), text);
        rest.remove_prefix(kHeadBytes + length);
    }
    end_ = content->size() - rest.size();
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
