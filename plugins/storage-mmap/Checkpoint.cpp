#include "Checkpoint.h"

#include "patchbay/protocol/util/BigEndian.h"
#include "patchbay/protocol/util/Crc32.h"

#include <array>

namespace patchbay::mmapstore {

namespace {

constexpr std::size_t kFields = 5;
constexpr std::size_t kFieldBytes = 8;
// Our own part: a mark, the position, and a checksum over this and RocketMQ's fields, which fits no longer when a Java broker has
// written its fields.
constexpr std::size_t kOwnAt = 64;
constexpr std::size_t kOwnBytes = 24;
constexpr std::int64_t kOwnMark = 0x5061'7463'6862'6179;  // "Patchbay"
constexpr std::size_t kReadBytes = kOwnAt + kOwnBytes;
constexpr std::uint64_t kFileBytes = 4096;  // RocketMQ maps that much
constexpr std::int64_t kAheadMaxMs = 24LL * 3600 * 1000;

std::int64_t checksum(const char* bytes) noexcept {
    return static_cast<std::int64_t>(protocol::crc32({bytes, kOwnAt + 2 * kFieldBytes}));
}

}  // namespace

Result<Checkpoint> Checkpoint::read(FileSystem& files, const std::string& path, std::int64_t nowMs, bool& garbage) {
    garbage = false;
    Checkpoint result;
    const Result<std::unique_ptr<File>> file = files.open(path, OpenMode::Read);
    if (!file) return file.error().code() == StatusCode::NotFound ? Result<Checkpoint>(result) : file.error();
    std::array<char, kReadBytes> bytes{};  // old versions wrote fewer fields: the rest reads as 0
    const Result<std::size_t> got = (*file)->readAt(bytes, 0);
    if (!got) return got.error();
    const auto field = [&](std::size_t index) { return protocol::loadI64(bytes.data() + index * kFieldBytes); };
    result = {field(0), field(1), field(2), field(3), field(4)};
    const char* const own = bytes.data() + kOwnAt;
    if (protocol::loadI64(own) == kOwnMark && protocol::loadI64(own + 2 * kFieldBytes) == checksum(bytes.data())) {
        result.safePosition = protocol::loadI64(own + kFieldBytes);
    }
    // A time of the future would make recovery begin too late and lose messages; zero only makes it take longer.
    const auto possible = [&](std::int64_t time) { return time >= 0 && time <= nowMs + kAheadMaxMs; };
    garbage = !possible(result.logTime) || !possible(result.queueTime);
    if (garbage) result = Checkpoint();
    return result;
}

Status Checkpoint::write(FileSystem& files, const std::string& path) const {
    const bool fresh = !files.exists(path);
    Result<std::unique_ptr<File>> file = files.open(path, OpenMode::Create);
    if (!file) return file.error();
    const Result<std::uint64_t> size = (*file)->size();
    if (!size) return size.error();
    if (*size < kFileBytes) {
        if (Status sized = (*file)->truncate(kFileBytes); !sized) return sized;
    }
    std::array<char, kReadBytes> bytes{};
    std::size_t at = 0;
    for (const std::int64_t value : {logTime, queueTime, indexTime, masterFlushed, confirmPosition}) {
        protocol::storeI64(bytes.data() + at, value);
        at += kFieldBytes;
    }
    char* const own = bytes.data() + kOwnAt;
    if (safePosition >= 0) {
        protocol::storeI64(own, kOwnMark);
        protocol::storeI64(own + kFieldBytes, safePosition);
        protocol::storeI64(own + 2 * kFieldBytes, checksum(bytes.data()));
    }
    // One sector: it is either the old or the new one after a power cut.
    if (Status written = (*file)->writeAt({bytes.data(), bytes.size()}, 0); !written) return written;
    if (Status synced = (*file)->sync(); !synced) return synced;
    return fresh ? files.syncDirectory(path.substr(0, path.rfind('/'))) : Status::ok();
}

}  // namespace patchbay::mmapstore
