#include "patchbay/protocol/FieldList.h"

#include <charconv>

namespace patchbay::protocol {

FieldList& FieldList::operator=(const FieldList& other) {
    if (this == &other) return *this;
    overflow_ = other.overflow_;
    copyInline(other);
    return *this;
}

FieldList& FieldList::operator=(FieldList&& other) noexcept {
    if (this == &other) return *this;
    overflow_ = std::move(other.overflow_);
    copyInline(other);
    other.clear();
    return *this;
}

void FieldList::copyInline(const FieldList& other) noexcept {
    count_ = other.count_;
    present_ = other.present_;
    size_ = other.size_;
    if (size_ <= kInlineBytes) std::memcpy(inline_.data(), other.inline_.data(), size_);
}

void FieldList::clear() noexcept {
    count_ = 0;
    present_ = false;
    size_ = 0;
    overflow_.clear();
}

void FieldList::add(std::string_view key, std::string_view value) {
    const auto keySize = static_cast<std::uint32_t>(key.size());
    const auto valueSize = static_cast<std::uint32_t>(value.size());
    char* const to = extend(kPrefix + key.size() + value.size());
    std::memcpy(to, &keySize, sizeof keySize);
    std::memcpy(to + sizeof keySize, &valueSize, sizeof valueSize);
    if (!key.empty()) std::memcpy(to + kPrefix, key.data(), key.size());
    if (!value.empty()) std::memcpy(to + kPrefix + key.size(), value.data(), value.size());
    ++count_;
    present_ = true;
}

void FieldList::add(std::string_view key, std::int64_t value) {
    std::array<char, 20> digits;
    const char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    add(key, std::string_view(digits.data(), static_cast<std::size_t>(end - digits.data())));
}

bool FieldList::contains(std::string_view key) const noexcept {
    bool found = false;
    forEach([&](std::string_view candidate, std::string_view) { found = found || candidate == key; });
    return found;
}

char* FieldList::extend(std::size_t bytes) {
    const std::size_t before = size_;
    size_ += bytes;
    if (size_ <= kInlineBytes) return inline_.data() + before;
    if (overflow_.empty()) overflow_.assign(inline_.data(), before);
    overflow_.resize(size_);
    return overflow_.data() + before;
}

}  // namespace patchbay::protocol
