#include "TlsTransport.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/x509_vfy.h>
#include <utility>

namespace patchbay::client {

using net::IoResult;

namespace {

// What one record of TLS holds.
constexpr std::size_t kRecordMax = 16U << 10;

}  // namespace

std::string takeTlsErrors() {
    std::string text;
    while (const auto code = ERR_get_error()) {
        std::array<char, 256> line{};
        ERR_error_string_n(code, line.data(), line.size());
        text.append(text.empty() ? "" : "; ").append(line.data());
    }
    return text;
}

TlsTransport::TlsTransport(std::unique_ptr<net::Transport> plain, TlsSession session) : plain_(std::move(plain)), session_(std::move(session)) {
    auto* bio = BIO_new(method());
    BIO_set_data(bio, this);
    BIO_set_init(bio, 1);
    SSL_set_bio(session_.get(), bio, bio);
    SSL_set_connect_state(session_.get());
}

TlsTransport::~TlsTransport() = default;

// OpenSSL's own would write to a connection that is gone without asking the system not to send a signal.
BIO_METHOD* TlsTransport::method() {
    static BIO_METHOD* const one = [] {
        auto* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "patchbay transport");
        BIO_meth_set_read(made, read);
        BIO_meth_set_write(made, write);
        BIO_meth_set_ctrl(made, control);
        return made;
    }();
    return one;
}

int TlsTransport::read(BIO* bio, char* into, int size) {
    auto& self = *static_cast<TlsTransport*>(BIO_get_data(bio));
    BIO_clear_retry_flags(bio);
    const auto got = self.plain_->receive({into, static_cast<std::size_t>(size)});
    if (got.kind == IoResult::Kind::Done) return static_cast<int>(got.bytes);
    if (got.kind == IoResult::Kind::WouldBlock) BIO_set_retry_read(bio);
    if (got.kind == IoResult::Kind::Failed) self.error_ = got.error;
    return got.kind == IoResult::Kind::End ? 0 : -1;
}

int TlsTransport::write(BIO* bio, const char* bytes, int size) {
    auto& self = *static_cast<TlsTransport*>(BIO_get_data(bio));
    BIO_clear_retry_flags(bio);
    // The interface of the system takes what it only reads without const.
    const iovec piece{const_cast<char*>(bytes), static_cast<std::size_t>(size)};
    const auto put = self.plain_->send({&piece, 1});
    if (put.kind == IoResult::Kind::Done) return static_cast<int>(put.bytes);
    if (put.kind == IoResult::Kind::WouldBlock) BIO_set_retry_write(bio);
    if (put.kind == IoResult::Kind::Failed) self.error_ = put.error;
    return -1;
}

long TlsTransport::control(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

IoResult TlsTransport::receive(std::span<char> into) noexcept {
    std::size_t got = 0;
    ERR_clear_error();
    const int result = SSL_read_ex(session_.get(), into.data(), into.size(), &got);
    return result > 0 ? IoResult{IoResult::Kind::Done, got, 0} : outcome(result);
}

// Small pieces go into one record together. After WouldBlock the same bytes come again, perhaps with more behind them, which OpenSSL allows.
IoResult TlsTransport::send(std::span<const iovec> pieces) noexcept {
    std::array<char, kRecordMax> record;
    std::size_t size = 0;
    for (const auto& piece : pieces) {
        const auto part = std::min(piece.iov_len, record.size() - size);
        std::memcpy(record.data() + size, piece.iov_base, part);
        size += part;
        if (size == record.size()) break;
    }
    waitsToReceive_ = false;
    std::size_t put = 0;
    ERR_clear_error();
    const int result = SSL_write_ex(session_.get(), record.data(), size, &put);
    return result > 0 ? IoResult{IoResult::Kind::Done, put, 0} : outcome(result);
}

IoResult TlsTransport::outcome(int result) noexcept {
    switch (SSL_get_error(session_.get(), result)) {
        case SSL_ERROR_WANT_READ: waitsToReceive_ = SSL_is_init_finished(session_.get()) == 0; return {IoResult::Kind::WouldBlock, 0, 0};
        case SSL_ERROR_WANT_WRITE: return {IoResult::Kind::WouldBlock, 0, 0};
        case SSL_ERROR_ZERO_RETURN: return {IoResult::Kind::End, 0, 0};
        default: break;
    }
    if (SSL_is_init_finished(session_.get()) != 0 && error_ == 0 && ERR_peek_error() == 0) return {IoResult::Kind::End, 0, 0};
    explain();
    return {IoResult::Kind::Failed, 0, error_ != 0 ? error_ : EPROTO};
}

void TlsTransport::explain() noexcept {
    try {
        auto details = takeTlsErrors();
        const auto verdict = SSL_get_verify_result(session_.get());
        // With SSL_VERIFY_NONE there is a verdict too, but it is not the reason.
        const bool asked = SSL_get_verify_mode(session_.get()) != SSL_VERIFY_NONE;
        if (asked && verdict != X509_V_OK) details = std::string(X509_verify_cert_error_string(verdict)) + "; check caFile and serverName of TlsOptions";
        else if (error_ != 0) details = std::strerror(error_);
        else if (details.empty()) details = "the server closed the connection; check that it offers TLS";
        failure_ = "TLS: " + details;
    } catch (const std::bad_alloc&) {
        failure_.clear();
    }
}

void TlsTransport::endSending() noexcept {
    if (SSL_is_init_finished(session_.get()) != 0) SSL_shutdown(session_.get());
    plain_->endSending();
}

}  // namespace patchbay::client
