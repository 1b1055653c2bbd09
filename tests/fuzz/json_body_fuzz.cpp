// Arbitrary text as a JSON body: the reader keeps its limits, and what bodies were read are written so that they can be
// read again. The first byte chooses the body.
#include "patchbay/protocol/route/AdminBodies.h"
#include "patchbay/protocol/route/ConfigText.h"
#include "patchbay/protocol/route/RegisterBroker.h"
#include "patchbay/protocol/route/SubscriptionGroupConfig.h"
#include "patchbay/protocol/route/TopicRoute.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using namespace patchbay::protocol;

template <typename T>
void roundTrip(std::string_view text) {
    const auto body = T::fromJson(text);
    if (!body) return;
    for (const auto dialect :
         {patchbay::json::Dialect::Fastjson, patchbay::json::Dialect::Strict, patchbay::json::Dialect::Pretty}) {
        const auto again = T::fromJson(patchbay::json::encode(*body, dialect));
        if (!again) std::abort();
        // Broken UTF-8 is replaced by the first writing; from then on nothing changes any more.
        const std::string second = patchbay::json::encode(*again, dialect);
        const auto third = T::fromJson(second);
        if (!third || patchbay::json::encode(*third, dialect) != second) std::abort();
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
    patchbay::json::ReadOptions strict;
    strict.strict = true;
    static_cast<void>(patchbay::json::Document::parse(text, strict));
    switch (data[0] % 8) {
        case 0:
            roundTrip<TopicRouteData>(text);
            break;
        case 1:
            roundTrip<TopicConfigs>(text);
            break;
        case 2:
            roundTrip<SubscriptionGroups>(text);
            break;
        case 3:
            roundTrip<ConsumerOffsets>(text);
            break;
        case 4:
            static_cast<void>(HeartbeatData::fromJson(text));
            break;
        case 5:
            static_cast<void>(RegisterBrokerBody::fromCompressed(text, 479, 1 << 20));
            break;
        case 6:
            static_cast<void>(parseConfigText(text));
            break;
        default:
            static_cast<void>(ConsumeStats::fromJson(text));
            break;
    }
    return 0;
}
