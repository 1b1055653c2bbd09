#include "patchbay/protocol/message/RecallHandle.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace patchbay::protocol {

namespace {

constexpr std::string_view kVersion = "v1";
constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

std::string toBase64(std::string_view bytes) {
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t at = 0; at < bytes.size(); at += 3) {
        const std::size_t count = std::min<std::size_t>(3, bytes.size() - at);
        std::uint32_t group = 0;
        for (std::size_t i = 0; i < 3; ++i) {
            group = group << 8 | (i < count ? static_cast<unsigned char>(bytes[at + i]) : 0U);
        }
        for (std::size_t i = 0; i < 4; ++i) text += i <= count ? kLetters[group >> (18 - 6 * i) & 63U] : '=';
    }
    return text;
}

std::optional<std::string> fromBase64(std::string_view text) {
    while (!text.empty() && text.back() == '=') text.remove_suffix(1);
    // One letter alone holds less than a byte.
    if (text.size() % 4 == 1) return std::nullopt;
    std::string bytes;
    std::uint32_t group = 0;
    std::uint32_t bits = 0;
    for (const char letter : text) {
        const std::size_t value = kLetters.find(letter);
        if (value == std::string_view::npos) return std::nullopt;
        group = group << 6 | static_cast<std::uint32_t>(value);
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            bytes += static_cast<char>(group >> bits & 0xFFU);
        }
    }
    return bytes;
}

Status invalid() { return {StatusCode::InvalidArgument, "recall handle is invalid"}; }

}  // namespace

std::string RecallHandle::encode() const {
    std::string words(kVersion);
    for (const std::string_view word : {std::string_view(topic), std::string_view(brokerName)}) (words += ' ') += word;
    (words += ' ') += std::to_string(deliverMs);
    (words += ' ') += uniqueKey;
    return toBase64(words);
}

Result<RecallHandle> RecallHandle::decode(std::string_view text) {
    const auto bytes = fromBase64(text);
    if (!bytes) return invalid();
    std::array<std::string_view, 5> words;
    std::string_view rest = *bytes;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::size_t end = i + 1 < words.size() ? rest.find(' ') : rest.size();
        if (end == std::string_view::npos) return invalid();
        words[i] = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        if (words[i].empty()) return invalid();
    }
    RecallHandle handle{std::string(words[1]), std::string(words[2]), 0, std::string(words[4])};
    const auto [end, error] = std::from_chars(words[3].data(), words[3].data() + words[3].size(), handle.deliverMs);
    if (words[0] != kVersion || error != std::errc() || end != words[3].data() + words[3].size()) return invalid();
    return handle;
}

}  // namespace patchbay::protocol
