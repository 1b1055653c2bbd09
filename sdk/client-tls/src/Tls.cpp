#include "patchbay/client/Tls.h"

#include "TlsTransport.h"
#include "remoting/Security.h"

#include <arpa/inet.h>
#include <array>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/x509_vfy.h>
#include <utility>

namespace patchbay::client {

namespace {

bool isAddress(const std::string& name) {
    std::array<unsigned char, 16> bytes{};
    return ::inet_pton(AF_INET, name.c_str(), bytes.data()) == 1 || ::inet_pton(AF_INET6, name.c_str(), bytes.data()) == 1;
}

class TlsSecurity final : public Security {
public:
    TlsSecurity(TlsContext context, const TlsOptions& options) : context_(std::move(context)), options_(options) {}

    std::unique_ptr<net::Transport> wrap(std::unique_ptr<net::Transport> plain, std::string_view host) const override {
        TlsSession session(SSL_new(context_.get()));
        if (!session) return nullptr;
        const auto name = options_.serverName.empty() ? std::string(host) : options_.serverName;
        const bool numeric = isAddress(name);
        // What the macro for it does, without its cast; the name is copied.
        if (!numeric) SSL_ctrl(session.get(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, const_cast<char*>(name.c_str()));
        if (options_.verify) {
            auto* expected = SSL_get0_param(session.get());
            const int known = numeric ? X509_VERIFY_PARAM_set1_ip_asc(expected, name.c_str()) : X509_VERIFY_PARAM_set1_host(expected, name.c_str(), name.size());
            if (known != 1) return nullptr;
        }
        return std::make_unique<TlsTransport>(std::move(plain), std::move(session));
    }

private:
    const TlsContext context_;
    const TlsOptions options_;
};

Status unusable(const char* what, const std::string& file) {
    return {StatusCode::InvalidArgument, std::string(what) + " '" + file + "' cannot be used: " + takeTlsErrors()};
}

// Instead of asking the terminal.
int refusePassword(char*, int, int, void* asked) {
    if (asked != nullptr) *static_cast<bool*>(asked) = true;
    return -1;
}

Status useKey(SSL_CTX* context, const std::string& file) {
    bool encrypted = false;
    SSL_CTX_set_default_passwd_cb(context, refusePassword);
    SSL_CTX_set_default_passwd_cb_userdata(context, &encrypted);
    const bool good = SSL_CTX_use_PrivateKey_file(context, file.c_str(), SSL_FILETYPE_PEM) == 1 && SSL_CTX_check_private_key(context) == 1;
    SSL_CTX_set_default_passwd_cb_userdata(context, nullptr);
    if (good) return Status::ok();
    if (!encrypted) return unusable("keyFile", file);
    ERR_clear_error();
    return {StatusCode::InvalidArgument, "keyFile '" + file + "' cannot be used: the key is encrypted; give one without a password"};
}

}  // namespace

Result<SecurityPtr> tls(const TlsOptions& options) {
    // Before anything else of OpenSSL: the client's thread may still use it while the process ends, when OpenSSL would free its tables. An application that
    // has used OpenSSL before has decided for itself.
    OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, nullptr);
    ERR_clear_error();
    TlsContext context(SSL_CTX_new(TLS_client_method()));
    if (!context) return Status(StatusCode::Unavailable, "OpenSSL cannot be used: " + takeTlsErrors());
    SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
    SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_verify(context.get(), options.verify ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
    if (options.caFile.empty() ? SSL_CTX_set_default_verify_paths(context.get()) != 1
                               : SSL_CTX_load_verify_locations(context.get(), options.caFile.c_str(), nullptr) != 1) {
        return unusable("caFile", options.caFile);
    }
    if (options.certificateFile.empty() != options.keyFile.empty()) {
        return Status(StatusCode::InvalidArgument, "certificateFile and keyFile belong together; give both or neither");
    }
    if (!options.certificateFile.empty()) {
        if (SSL_CTX_use_certificate_chain_file(context.get(), options.certificateFile.c_str()) != 1) return unusable("certificateFile", options.certificateFile);
        if (auto status = useKey(context.get(), options.keyFile); !status) return status;
    }
    return SecurityPtr(std::make_shared<TlsSecurity>(std::move(context), options));
}

}  // namespace patchbay::client
