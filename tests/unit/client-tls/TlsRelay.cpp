#include "TlsRelay.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <netinet/in.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace patchbay::test {

namespace {

template <typename Write>
std::string pem(const Write& write) {
    BIO* bio = BIO_new(BIO_s_mem());
    write(bio);
    char* bytes = nullptr;
    const auto size = BIO_ctrl(bio, BIO_CTRL_INFO, 0, &bytes);
    std::string text(bytes, static_cast<std::size_t>(size));
    BIO_free(bio);
    return text;
}

BIO* reader(const std::string& text) { return BIO_new_mem_buf(text.data(), static_cast<int>(text.size())); }

X509* certificateIn(const std::string& text) {
    BIO* bio = reader(text);
    X509* certificate = PEM_read_bio_X509(bio, nullptr, nullptr, nullptr);
    BIO_free(bio);
    return certificate;
}

EVP_PKEY* keyIn(const std::string& text) {
    BIO* bio = reader(text);
    EVP_PKEY* key = PEM_read_bio_PrivateKey(bio, nullptr, nullptr, nullptr);
    BIO_free(bio);
    return key;
}

void extend(X509* certificate, int what, const std::string& value) {
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, what, value.c_str());
    X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
}

int connectTo(std::uint16_t port) {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return fd;
    ::close(fd);
    return -1;
}

}  // namespace

Identity Identity::make(const std::string& name, const std::string& alternatives, const Identity* issuer) {
    static std::atomic<long> serial{1};
    EVP_PKEY* key = EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256");
    X509* certificate = X509_new();
    X509_set_version(certificate, X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), serial++);
    X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
    X509_set_pubkey(certificate, key);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
    X509* by = issuer != nullptr ? certificateIn(issuer->certificate) : nullptr;
    EVP_PKEY* byKey = issuer != nullptr ? keyIn(issuer->key) : nullptr;
    X509_set_issuer_name(certificate, X509_get_subject_name(by != nullptr ? by : certificate));
    extend(certificate, NID_basic_constraints, issuer != nullptr ? "CA:FALSE" : "critical,CA:TRUE");
    if (!alternatives.empty()) extend(certificate, NID_subject_alt_name, alternatives);
    X509_sign(certificate, byKey != nullptr ? byKey : key, EVP_sha256());
    Identity made;
    made.certificate = pem([&](BIO* bio) { PEM_write_bio_X509(bio, certificate); });
    made.key = pem([&](BIO* bio) { PEM_write_bio_PrivateKey(bio, key, nullptr, nullptr, 0, nullptr, nullptr); });
    X509_free(by);
    EVP_PKEY_free(byKey);
    X509_free(certificate);
    EVP_PKEY_free(key);
    return made;
}

std::string encrypted(const std::string& key, std::string password) {
    EVP_PKEY* read = keyIn(key);
    auto text = pem([&](BIO* bio) { PEM_write_bio_PKCS8PrivateKey(bio, read, EVP_aes_128_cbc(), password.data(), static_cast<int>(password.size()), nullptr, nullptr); });
    EVP_PKEY_free(read);
    return text;
}

TlsRelay::TlsRelay(std::uint16_t to, const Identity& own, const Identity* clients) : to_(to), context_(SSL_CTX_new(TLS_server_method())) {
    X509* certificate = certificateIn(own.certificate);
    EVP_PKEY* key = keyIn(own.key);
    SSL_CTX_use_certificate(context_, certificate);
    SSL_CTX_use_PrivateKey(context_, key);
    X509_free(certificate);
    EVP_PKEY_free(key);
    if (clients != nullptr) {
        X509* trusted = certificateIn(clients->certificate);
        X509_STORE_add_cert(SSL_CTX_get_cert_store(context_), trusted);
        X509_free(trusted);
        SSL_CTX_set_verify(context_, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
    }
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0) ::perror("bind");
    ::listen(listener_, 16);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    acceptor_ = std::thread([this] { accept(); });
}

TlsRelay::~TlsRelay() {
    ::shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    ::close(listener_);
    {
        const std::lock_guard lock(mutex_);
        for (const int fd : open_) ::shutdown(fd, SHUT_RDWR);
    }
    for (auto& thread : threads_) thread.join();
    SSL_CTX_free(context_);
}

void TlsRelay::accept() {
    for (;;) {
        const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        if (fd < 0) return;
        const std::lock_guard lock(mutex_);
        open_.push_back(fd);
        threads_.emplace_back([this, fd] { serve(fd); });
    }
}

void TlsRelay::serve(int fd) {
    SSL* session = SSL_new(context_);
    SSL_set_fd(session, fd);
    if (SSL_accept(session) == 1) {
        ++handshakes_;
        if (const int far = connectTo(to_); far >= 0) {
            pump(session, fd, far);
            ::close(far);
        }
    }
    SSL_free(session);
    const std::lock_guard lock(mutex_);
    std::erase(open_, fd);
    ::close(fd);
}

void TlsRelay::pump(SSL* session, int near, int far) {
    std::array<char, 16'384> buffer;
    for (;;) {
        std::array<pollfd, 2> fds{{{near, POLLIN, 0}, {far, POLLIN, 0}}};
        if (SSL_pending(session) > 0) fds[0].revents = POLLIN;
        else if (::poll(fds.data(), fds.size(), -1) < 0) return;
        if (fds[0].revents != 0) {
            const int got = SSL_read(session, buffer.data(), buffer.size());
            if (got <= 0 || ::send(far, buffer.data(), static_cast<std::size_t>(got), MSG_NOSIGNAL) != got) return;
        }
        if (fds[1].revents != 0) {
            const auto got = ::recv(far, buffer.data(), buffer.size(), 0);
            if (got <= 0 || SSL_write(session, buffer.data(), static_cast<int>(got)) != got) return;
        }
    }
}

}  // namespace patchbay::test
