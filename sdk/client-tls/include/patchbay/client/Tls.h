// TLS for clients: options.client.security = *tls({.caFile = "ca.pem"}). Link patchbay::client_tls.
#pragma once

#include "patchbay/base/Result.h"
#include "patchbay/client/ClientOptions.h"

#include <string>

namespace patchbay::client {

/// A value type. Files are PEM.
struct TlsOptions {
    std::string caFile{};           ///< whom to trust; empty: the authorities that the system trusts
    std::string certificateFile{};  ///< the client's own certificate with what signed it, for servers that ask for one
    std::string keyFile{};          ///< and its key, not encrypted
    /// The name or address that every server has to prove; empty: the one by which it is reached. Brokers are reached by the address that they tell the
    /// name server, which is seldom in a certificate.
    std::string serverName{};
    bool verify = true;             ///< false: whoever answers is trusted. For tests, and for brokers with a certificate of their own making
};

/// TLS 1.2 or later. Clients may share what this returns; those that do share their connections. InvalidArgument names the file that cannot be used.
[[nodiscard]] Result<SecurityPtr> tls(const TlsOptions& options = {});

}  // namespace patchbay::client
