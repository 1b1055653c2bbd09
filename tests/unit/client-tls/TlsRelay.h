// TlsRelay: a TLS port in front of a plain one; and certificates for it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <string>
#include <thread>
#include <vector>

namespace patchbay::test {

/// A key with a certificate, signed by another one or by itself. Both are PEM.
struct Identity {
    std::string certificate;
    std::string key;
    /// `name`: its subject, and with `alternatives` ("IP:127.0.0.1,DNS:broker") whom it stands for.
    static Identity make(const std::string& name, const std::string& alternatives, const Identity* issuer = nullptr);
};

/// The same key, not to be had without the password.
[[nodiscard]] std::string encrypted(const std::string& key, std::string password);

/// Listens on 127.0.0.1; each caller is handed on to the plain port when the handshake has succeeded. A thread each. Ended by the destructor.
class TlsRelay {
public:
    /// `clients`: whose signature the callers' certificates need; null: none is asked for.
    TlsRelay(std::uint16_t to, const Identity& own, const Identity* clients = nullptr);
    ~TlsRelay();
    TlsRelay(const TlsRelay&) = delete;
    TlsRelay& operator=(const TlsRelay&) = delete;

    [[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
    [[nodiscard]] int handshakes() const noexcept { return handshakes_; }

private:
    void accept();
    void serve(int fd);
    static void pump(SSL* session, int near, int far);

    const std::uint16_t to_;
    SSL_CTX* const context_;
    int listener_ = -1;
    std::uint16_t port_ = 0;
    std::atomic<int> handshakes_{0};
    std::mutex mutex_;
    std::vector<int> open_;
    std::vector<std::thread> threads_;
    std::thread acceptor_;
};

}  // namespace patchbay::test
