#include "Health.h"

#include "patchbay/protocol/RequestCode.h"
#include "patchbay/protocol/json/Writer.h"

#include <algorithm>
#include <charconv>

namespace patchbay::plugins::metrics {

namespace {

void addUnserved(const service::Observation& observation, std::string_view listener, const std::vector<std::int32_t>& codes, std::vector<std::string>& reasons) {
    for (const auto code : codes) {
        if (observation.serves(listener, code).value_or(true)) continue;
        std::string text = "no plugin serves ";
        const auto name = protocol::toString(static_cast<protocol::RequestCode>(code));
        if (!name.empty()) text += std::string(name) + " (" + std::to_string(code) + ")";
        else text += "code " + std::to_string(code);
        reasons.push_back(text + " on the listener '" + std::string(listener) + "'");
    }
}

}  // namespace

Result<std::vector<std::int32_t>> parseCodes(std::string_view key, std::string_view text) {
    std::vector<std::int32_t> codes;
    while (!text.empty()) {
        const auto end = std::min(text.find(' '), text.size());
        const auto word = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (word.empty()) continue;
        std::int32_t code = 0;
        const auto read = std::from_chars(word.data(), word.data() + word.size(), code);
        if (read.ec != std::errc{} || read.ptr != word.data() + word.size() || code < 0) {
            return Status(StatusCode::InvalidArgument, std::string(key) + ": '" + std::string(word) + "' is not a request code");
        }
        codes.push_back(code);
    }
    return codes;
}

std::vector<std::string> reasonsNotReady(const service::Observation& observation, const service::StoreStats* store, const NeededCodes& needed) {
    std::vector<std::string> reasons;
    if (!observation.process().serving) reasons.emplace_back("the process takes no requests: it is starting or stopping");
    if (store != nullptr && !store->writable) {
        reasons.push_back("the store takes no messages: " + (store->health ? std::string("it does not say why") : store->health.message()));
    }
    addUnserved(observation, "broker", needed.broker, reasons);
    addUnserved(observation, "namesrv", needed.namesrv, reasons);
    return reasons;
}

std::string readyBody(const std::vector<std::string>& reasons) {
    std::string body;
    json::Writer out(body);
    out.beginObject();
    out.member("ready", reasons.empty());
    out.key("why");
    out.beginArray();
    for (const auto& reason : reasons) out.string(reason);
    out.endArray();
    out.endObject();
    return body + "\n";
}

}  // namespace patchbay::plugins::metrics
