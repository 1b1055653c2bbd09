// The access-control signature of a request.
#pragma once

#include "patchbay/client/ClientOptions.h"
#include "patchbay/protocol/FieldList.h"

#include <string>
#include <string_view>

namespace patchbay::client {

/// Base64 of HMAC-SHA1 over all values in the order of their keys, then the body.
[[nodiscard]] std::string signatureOf(const protocol::FieldList& fields, std::string_view body, std::string_view secretKey);

/// Adds AccessKey, SecurityToken and Signature. Nothing without an access key.
void sign(protocol::FieldList& fields, std::string_view body, const Credentials& credentials);

}  // namespace patchbay::client
