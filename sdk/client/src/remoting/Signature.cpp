#include "remoting/Signature.h"

#include <Poco/Base64Encoder.h>
#include <Poco/HMACEngine.h>
#include <Poco/SHA1Engine.h>

#include <algorithm>
#include <sstream>
#include <utility>
#include <vector>

namespace patchbay::client {

namespace {

std::string base64(const Poco::DigestEngine::Digest& bytes) {
    std::ostringstream out;
    Poco::Base64Encoder encoder(out);
    encoder.rdbuf()->setLineLength(0);
    for (const auto byte : bytes) encoder.put(static_cast<char>(byte));
    encoder.close();
    return out.str();
}

}  // namespace

std::string signatureOf(const protocol::FieldList& fields, std::string_view body, std::string_view secretKey) {
    std::vector<std::pair<std::string_view, std::string_view>> sorted;
    sorted.reserve(fields.count());
    fields.forEach([&](std::string_view key, std::string_view value) { sorted.emplace_back(key, value); });
    std::sort(sorted.begin(), sorted.end());
    Poco::HMACEngine<Poco::SHA1Engine> hmac{std::string(secretKey)};
    for (const auto& [key, value] : sorted) hmac.update(value.data(), value.size());
    if (!body.empty()) hmac.update(body.data(), body.size());
    return base64(hmac.digest());
}

void sign(protocol::FieldList& fields, std::string_view body, const Credentials& credentials) {
    if (credentials.accessKey.empty()) return;
    fields.add("AccessKey", credentials.accessKey);
    if (!credentials.securityToken.empty()) fields.add("SecurityToken", credentials.securityToken);
    const auto signature = signatureOf(fields, body, credentials.secretKey);
    fields.add("Signature", signature);
}

}  // namespace patchbay::client
