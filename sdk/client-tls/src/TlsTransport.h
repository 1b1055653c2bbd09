// TlsTransport: a TLS client's side of one connection, over another transport.
#pragma once

#include "patchbay/net/Transport.h"

#include <memory>
#include <openssl/ssl.h>
#include <string>

namespace patchbay::client {

struct TlsDeleter {
    void operator()(SSL_CTX* context) const noexcept { SSL_CTX_free(context); }
    void operator()(SSL* session) const noexcept { SSL_free(session); }
};
using TlsContext = std::unique_ptr<SSL_CTX, TlsDeleter>;
using TlsSession = std::unique_ptr<SSL, TlsDeleter>;

/// What OpenSSL has put on this thread's list of errors, as one line; the list is empty afterwards.
[[nodiscard]] std::string takeTlsErrors();

/// The handshake begins with the first send() and goes on with each, and with each receive(). Loop thread.
class TlsTransport final : public net::Transport {
public:
    TlsTransport(std::unique_ptr<net::Transport> plain, TlsSession session);
    ~TlsTransport() override;
    TlsTransport(const TlsTransport&) = delete;
    TlsTransport& operator=(const TlsTransport&) = delete;

    [[nodiscard]] int fd() const noexcept override { return plain_->fd(); }
    net::IoResult receive(std::span<char> into) noexcept override;
    net::IoResult send(std::span<const iovec> pieces) noexcept override;
    [[nodiscard]] bool buffered() const noexcept override { return SSL_pending(session_.get()) > 0; }
    [[nodiscard]] bool sendWaitsToReceive() const noexcept override { return waitsToReceive_ && !established(); }
    [[nodiscard]] bool established() const noexcept override { return SSL_is_init_finished(session_.get()) != 0; }
    [[nodiscard]] std::string lastFailure() const override { return failure_; }
    void endSending() noexcept override;

private:
    static BIO_METHOD* method();
    static int read(BIO* bio, char* into, int size);
    static int write(BIO* bio, const char* bytes, int size);
    static long control(BIO* bio, int command, long number, void* pointer);
    [[nodiscard]] net::IoResult outcome(int result) noexcept;
    void explain() noexcept;

    const std::unique_ptr<net::Transport> plain_;
    const TlsSession session_;
    bool waitsToReceive_ = false;
    int error_ = 0;       // of the transport below
    std::string failure_;
};

}  // namespace patchbay::client
