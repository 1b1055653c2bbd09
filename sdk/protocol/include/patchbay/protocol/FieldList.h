// FieldList: the extension fields of a command that is being written.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

namespace patchbay::protocol {

/// Collects keys and values, as copies, in the order in which they shall be sent. A value type that the writer of a
/// command keeps on its stack: some 400 bytes are inside, more goes to the heap. Keys are not checked for duplicates.
class FieldList {
public:
    FieldList() noexcept {}
    FieldList(const FieldList& other) { *this = other; }
    FieldList(FieldList&& other) noexcept { *this = std::move(other); }
    FieldList& operator=(const FieldList& other);
    FieldList& operator=(FieldList&& other) noexcept;

    void add(std::string_view key, std::string_view value);
    void add(std::string_view key, const char* value) { add(key, std::string_view(value)); }
    void add(std::string_view key, std::int64_t value);
    void add(std::string_view key, std::int32_t value) { add(key, std::int64_t{value}); }
    void add(std::string_view key, std::uint64_t value) = delete;
    void add(std::string_view key, bool value) { add(key, value ? "true" : "false"); }

    /// Makes an empty list appear as {}: the command has a header class, only without any value. add() does it too.
    void markPresent() noexcept { present_ = true; }
    /// False: the command is sent without extFields.
    [[nodiscard]] bool present() const noexcept { return present_; }

    void clear() noexcept;
    [[nodiscard]] std::size_t count() const noexcept { return count_; }
    /// Bytes of all keys and values together.
    [[nodiscard]] std::size_t textBytes() const noexcept { return size_ - count_ * kPrefix; }
    [[nodiscard]] bool contains(std::string_view key) const noexcept;

    /// Calls f(std::string_view key, std::string_view value) in order.
    template <typename F>
    void forEach(F&& f) const {
        const char* at = overflow_.empty() ? inline_.data() : overflow_.data();
        for (std::uint32_t left = count_; left > 0; --left) {
            std::uint32_t keySize = 0;
            std::uint32_t valueSize = 0;
            std::memcpy(&keySize, at, sizeof keySize);
            std::memcpy(&valueSize, at + sizeof keySize, sizeof valueSize);
            at += kPrefix;
            f(std::string_view(at, keySize), std::string_view(at + keySize, valueSize));
            at += keySize + valueSize;
        }
    }

private:
    static constexpr std::size_t kPrefix = 2 * sizeof(std::uint32_t);
    static constexpr std::size_t kInlineBytes = 416;

    char* extend(std::size_t bytes);
    void copyInline(const FieldList& other) noexcept;

    std::uint32_t count_ = 0;
    bool present_ = false;
    std::size_t size_ = 0;
    // Deliberately not zeroed: bytes from size_ on are never read. Unused once overflow_ has taken over all of them.
    std::array<char, kInlineBytes> inline_;
    std::string overflow_;
};

}  // namespace patchbay::protocol
