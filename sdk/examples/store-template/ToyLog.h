// ToyLog: one file of entries, each with its length and checksum.
#pragma once

#include "patchbay/base/FileSystem.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace toy {

/// An entry is a kind, a length, a checksum and a text; what a crash leaves of one that is not whole counts for nothing, so that all of a
/// group goes into one. Owned by the store; one thread at a time.
/// A failed write leaves nothing behind: the next one begins with cutting the file to what is good. After a failed sync nothing is known
/// any more, so everything is refused until the log is opened anew.
class ToyLog {
public:
    enum class Kind : char { Group = 'M', TopicDeleted = 'D', Trimmed = 'T' };
    using Replay = std::function<void(Kind kind, std::string_view text)>;

    explicit ToyLog(patchbay::FileSystem& files) : files_(files) {}

    /// Reads the file back, up to the first entry that is not whole. What follows is the torn end that a crash leaves, which the next
    /// write cuts off; when a whole entry is among it, the file is damaged and Corrupt is returned.
    patchbay::Status open(const std::string& path, const Replay& replay);
    /// The length of the torn end that open() found.
    [[nodiscard]] std::size_t tornBytes() const noexcept { return tornBytes_; }
    void close() noexcept { file_.reset(); }

    /// Gathers an entry for write().
    void add(Kind kind, std::string_view text);
    void drop() noexcept { gathered_.clear(); }
    /// Writes what was gathered; all or nothing.
    patchbay::Status write();
    patchbay::Status sync();

private:
    patchbay::FileSystem& files_;
    std::unique_ptr<patchbay::File> file_;
    std::string gathered_;
    std::uint64_t end_ = 0;
    std::size_t tornBytes_ = 0;
    bool torn_ = false;            // a failed write may have left something behind end_
    patchbay::Status syncFailure_;
};

}  // namespace toy
