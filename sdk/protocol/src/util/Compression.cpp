#include "patchbay/protocol/util/Compression.h"

#include <lz4frame.h>
#include <zlib.h>
#include <zstd.h>

#include <array>
#include <limits>
#include <memory>

namespace patchbay::protocol {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{64} << 10;

Status corrupt(std::string_view codec, std::string_view what) {
    return {StatusCode::Corrupt, std::string(codec) + " stream: " + std::string(what)};
}

Status tooLarge(std::size_t plainBytesMax) {
    return {StatusCode::OutOfRange, "unpacked size exceeds " + std::to_string(plainBytesMax) + " bytes"};
}

/// Collects what comes out of a decoder piece by piece, up to a limit.
class Output {
public:
    explicit Output(std::size_t bytesMax) : bytesMax_(bytesMax) {}

    [[nodiscard]] char* piece() noexcept { return piece_.data(); }
    [[nodiscard]] std::size_t pieceBytes() const noexcept { return piece_.size(); }
    /// False when the limit is exceeded.
    bool take(std::size_t bytes) {
        if (bytes > bytesMax_ - text_.size()) return false;
        text_.append(piece_.data(), bytes);
        return true;
    }
    [[nodiscard]] std::string text() && { return std::move(text_); }

private:
    const std::size_t bytesMax_;
    std::string text_;
    std::array<char, kPieceBytes> piece_;
};

unsigned char* bytePointer(const char* text) noexcept {
    // zlib's interface lacks const for input that it does not change.
    return reinterpret_cast<unsigned char*>(const_cast<char*>(text));
}

Result<std::string> zlibCompress(std::string_view plain, int level) {
    uLongf bytes = compressBound(static_cast<uLong>(plain.size()));
    std::string out(bytes, '\0');
    const int code =
        compress2(bytePointer(out.data()), &bytes, bytePointer(plain.data()), static_cast<uLong>(plain.size()), level);
    if (code != Z_OK) return Status(StatusCode::Internal, "zlib refused to compress, code " + std::to_string(code));
    out.resize(bytes);
    return out;
}

Result<std::string> zlibDecompress(std::string_view packed, std::size_t plainBytesMax) {
    if (packed.size() > std::numeric_limits<uInt>::max()) return tooLarge(plainBytesMax);
    z_stream stream{};
    if (inflateInit(&stream) != Z_OK) return Status(StatusCode::Internal, "zlib refused to start");
    const std::unique_ptr<z_stream, int (*)(z_stream*)> guard(&stream, inflateEnd);
    stream.next_in = bytePointer(packed.data());
    stream.avail_in = static_cast<uInt>(packed.size());
    const auto out = std::make_unique<Output>(plainBytesMax);
    for (;;) {
        stream.next_out = bytePointer(out->piece());
        stream.avail_out = static_cast<uInt>(out->pieceBytes());
        const int code = inflate(&stream, Z_NO_FLUSH);
        if (!out->take(out->pieceBytes() - stream.avail_out)) return tooLarge(plainBytesMax);
        if (code == Z_STREAM_END) break;
        if (code != Z_OK) return corrupt("zlib", stream.avail_in == 0 ? "ends too early" : "not valid");
    }
    if (stream.avail_in != 0) return corrupt("zlib", "bytes behind its end");
    return std::move(*out).text();
}

Result<std::string> lz4Compress(std::string_view plain, int level) {
    LZ4F_preferences_t preferences{};
    preferences.compressionLevel = level;
    std::string out(LZ4F_compressFrameBound(plain.size(), &preferences), '\0');
    const std::size_t bytes = LZ4F_compressFrame(out.data(), out.size(), plain.data(), plain.size(), &preferences);
    if (LZ4F_isError(bytes) != 0) return Status(StatusCode::Internal, LZ4F_getErrorName(bytes));
    out.resize(bytes);
    return out;
}

Result<std::string> lz4Decompress(std::string_view packed, std::size_t plainBytesMax) {
    LZ4F_dctx* raw = nullptr;
    if (LZ4F_isError(LZ4F_createDecompressionContext(&raw, LZ4F_VERSION)) != 0) {
        return Status(StatusCode::Internal, "LZ4 refused to start");
    }
    const std::unique_ptr<LZ4F_dctx, LZ4F_errorCode_t (*)(LZ4F_dctx*)> context(raw, LZ4F_freeDecompressionContext);
    const auto out = std::make_unique<Output>(plainBytesMax);
    for (;;) {
        std::size_t produced = out->pieceBytes();
        std::size_t consumed = packed.size();
        const std::size_t hint =
            LZ4F_decompress(context.get(), out->piece(), &produced, packed.data(), &consumed, nullptr);
        if (LZ4F_isError(hint) != 0) return corrupt("LZ4", LZ4F_getErrorName(hint));
        if (!out->take(produced)) return tooLarge(plainBytesMax);
        packed.remove_prefix(consumed);
        if (hint == 0) break;
        if (produced == 0 && consumed == 0) return corrupt("LZ4", "ends too early");
    }
    if (!packed.empty()) return corrupt("LZ4", "bytes behind its end");
    return std::move(*out).text();
}

Result<std::string> zstdCompress(std::string_view plain, int level) {
    std::string out(ZSTD_compressBound(plain.size()), '\0');
    const std::size_t bytes = ZSTD_compress(out.data(), out.size(), plain.data(), plain.size(), level);
    if (ZSTD_isError(bytes) != 0) return Status(StatusCode::Internal, ZSTD_getErrorName(bytes));
    out.resize(bytes);
    return out;
}

Result<std::string> zstdDecompress(std::string_view packed, std::size_t plainBytesMax) {
    const std::unique_ptr<ZSTD_DStream, std::size_t (*)(ZSTD_DStream*)> stream(ZSTD_createDStream(), ZSTD_freeDStream);
    if (stream == nullptr) return Status(StatusCode::Internal, "ZSTD refused to start");
    // The window is memory that the stream asks for before anything comes out; Java's writer needs at most 8 MiB.
    ZSTD_DCtx_setParameter(stream.get(), ZSTD_d_windowLogMax, 23);
    const auto out = std::make_unique<Output>(plainBytesMax);
    ZSTD_inBuffer input{packed.data(), packed.size(), 0};
    for (;;) {
        ZSTD_outBuffer output{out->piece(), out->pieceBytes(), 0};
        const std::size_t before = input.pos;
        const std::size_t hint = ZSTD_decompressStream(stream.get(), &output, &input);
        if (ZSTD_isError(hint) != 0) return corrupt("ZSTD", ZSTD_getErrorName(hint));
        if (!out->take(output.pos)) return tooLarge(plainBytesMax);
        if (hint == 0) break;
        if (output.pos == 0 && input.pos == before) return corrupt("ZSTD", "ends too early");
    }
    if (input.pos != input.size) return corrupt("ZSTD", "bytes behind its end");
    return std::move(*out).text();
}

}  // namespace

std::optional<CompressionType> compressionTypeOf(std::int32_t sysFlag) noexcept {
    switch ((sysFlag >> 8) & 0x7) {
        case 1:
            return CompressionType::Lz4;
        case 2:
            return CompressionType::Zstd;
        case 0:
        case 3:
            return CompressionType::Zlib;
        default:
            return std::nullopt;
    }
}

Result<std::string> compress(CompressionType type, std::string_view plain, int level) {
    switch (type) {
        case CompressionType::Lz4:
            return lz4Compress(plain, level);
        case CompressionType::Zstd:
            return zstdCompress(plain, level);
        case CompressionType::Zlib:
            return zlibCompress(plain, level);
    }
    return Status(StatusCode::InvalidArgument, "no such codec");
}

Result<std::string> decompress(CompressionType type, std::string_view packed, std::size_t plainBytesMax) {
    switch (type) {
        case CompressionType::Lz4:
            return lz4Decompress(packed, plainBytesMax);
        case CompressionType::Zstd:
            return zstdDecompress(packed, plainBytesMax);
        case CompressionType::Zlib:
            return zlibDecompress(packed, plainBytesMax);
    }
    return Status(StatusCode::InvalidArgument, "no such codec");
}

}  // namespace patchbay::protocol
