#include "Health.h"

#include "patchbay/protocol/json/Writer.h"

namespace patchbay::plugins::metrics {

std::vector<std::string> reasonsNotReady(const service::ProcessStats& process, const service::StoreStats* store) {
    std::vector<std::string> reasons;
    if (!process.serving) reasons.emplace_back("the process takes no requests: it is starting or stopping");
    if (store != nullptr && !store->writable) {
        reasons.push_back("the store takes no messages: " + (store->health ? std::string("it does not say why") : store->health.message()));
    }
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
