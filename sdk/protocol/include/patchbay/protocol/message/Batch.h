// The body of a batch send: several messages back to back, without a count.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace patchbay::protocol {

/// One message of a batch; views into the batch.
struct BatchEntry {
    std::int32_t flag = 0;
    std::string_view body;
    std::string_view properties;
};

/// Bytes of an entry apart from its body and its properties.
inline constexpr std::size_t kBatchEntryFixedBytes = 22;

/// Walks over the entries without allocating. As in Java the size field of an entry is not believed: its parts decide
/// where the next one starts. The bytes must outlive the reader and what it hands out. One thread.
class BatchReader {
public:
    explicit BatchReader(std::string_view bytes) noexcept : rest_(bytes) {}
    /// False at the end and at the first entry that reaches beyond the bytes; failed() tells which.
    bool next(BatchEntry& entry) noexcept;
    [[nodiscard]] bool failed() const noexcept { return failed_; }

private:
    std::string_view rest_;
    bool failed_ = false;
};

/// Number of entries, 0 for no bytes; nothing when the bytes do not divide into whole entries.
[[nodiscard]] std::optional<std::uint32_t> countBatch(std::string_view bytes) noexcept;

/// Appends one entry. properties.size() must be at most 32767.
void appendBatchEntry(std::string& out, const BatchEntry& entry);

}  // namespace patchbay::protocol
