#include "patchbay/protocol/message/MessageId.h"

#include "patchbay/protocol/util/BigEndian.h"

#include <chrono>
#include <cstring>
#include <limits>

namespace patchbay::protocol {
namespace {

char* writeHex(char* out, std::string_view bytes) noexcept {
    constexpr char kDigits[] = "0123456789ABCDEF";
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        *out++ = kDigits[byte >> 4];
        *out++ = kDigits[byte & 0xF];
    }
    return out;
}

template <typename T>
char* writeHex(char* out, T value) noexcept {
    char raw[sizeof(T)];
    storeBe(raw, value);
    return writeHex(out, std::string_view(raw, sizeof raw));
}

int hexDigit(char c) noexcept {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
}

bool readHex(std::string_view text, char* out) noexcept {
    for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
        const int high = hexDigit(text[i]);
        const int low = hexDigit(text[i + 1]);
        if (high < 0 || low < 0) return false;
        *out++ = static_cast<char>(high * 16 + low);
    }
    return true;
}

std::int64_t msSinceMonthBegan(std::int64_t wallMs) noexcept {
    using namespace std::chrono;
    const sys_time<milliseconds> now{milliseconds(wallMs)};
    const year_month_day today{floor<days>(now)};
    return (now - sys_days{today.year() / today.month() / 1}).count();
}

}  // namespace

Result<MessageId> MessageId::parse(std::string_view text) {
    std::array<char, kMessageIdCharsV6 / 2> raw;
    if ((text.size() != kMessageIdCharsV4 && text.size() != kMessageIdCharsV6) || !readHex(text, raw.data())) {
        return Status(StatusCode::InvalidArgument, "a message id has 32 or 56 hexadecimal digits");
    }
    const bool v6 = text.size() == kMessageIdCharsV6;
    const char* behindIp = raw.data() + (v6 ? 16 : 4);
    const std::int32_t port = loadI32(behindIp);
    if (port < 0 || port > std::numeric_limits<std::uint16_t>::max()) {
        return Status(StatusCode::InvalidArgument, "the message id holds no valid port");
    }
    MessageId id;
    id.physicalOffset = loadI64(behindIp + 4);
    if (v6) {
        std::array<std::uint8_t, 16> ip;
        std::memcpy(ip.data(), raw.data(), ip.size());
        id.storeHost = SocketAddress::v6(ip, static_cast<std::uint16_t>(port));
    } else {
        std::array<std::uint8_t, 4> ip;
        std::memcpy(ip.data(), raw.data(), ip.size());
        id.storeHost = SocketAddress::v4(ip, static_cast<std::uint16_t>(port));
    }
    return id;
}

std::string MessageId::toString() const {
    std::array<char, kMessageIdCharsV6> text;
    return {text.data(), writeMessageId(text.data(), storeHost, physicalOffset)};
}

std::size_t writeMessageId(char* out, const SocketAddress& storeHost, std::int64_t physicalOffset) noexcept {
    char* at = writeHex(out, storeHost.ipBytes());
    at = writeHex(at, static_cast<std::int32_t>(storeHost.port()));
    at = writeHex(at, physicalOffset);
    return static_cast<std::size_t>(at - out);
}

UniqueIdGenerator::UniqueIdGenerator(const Clock& clock, const SocketAddress& local, std::uint32_t processId,
                                     std::uint32_t discriminator) noexcept
    : clock_(clock) {
    char* at = writeHex(prefix_.data(), local.ipBytes());
    at = writeHex(at, static_cast<std::uint16_t>(processId));
    at = writeHex(at, discriminator);
    prefixChars_ = static_cast<std::size_t>(at - prefix_.data());
}

std::size_t UniqueIdGenerator::write(char* out) noexcept {
    std::memcpy(out, prefix_.data(), prefixChars_);
    char* at = out + prefixChars_;
    at = writeHex(at, static_cast<std::uint32_t>(msSinceMonthBegan(clock_.wallMs())));
    at = writeHex(at, counter_.fetch_add(1, std::memory_order_relaxed));
    return static_cast<std::size_t>(at - out);
}

std::string UniqueIdGenerator::next() {
    std::array<char, kMessageIdCharsV6> text;
    return {text.data(), write(text.data())};
}

}  // namespace patchbay::protocol
