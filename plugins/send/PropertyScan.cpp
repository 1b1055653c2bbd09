#include "PropertyScan.h"

#include "patchbay/protocol/message/Properties.h"
#include "patchbay/protocol/message/PropertyNames.h"

namespace patchbay::plugins::send {

namespace {

using namespace protocol;

bool isBrokersOwn(std::string_view name) noexcept {
    return name == kPropertyMsgRegion || name == kPropertyTraceSwitch || name == kPropertyCluster || name == kPropertyPopCk;
}

}  // namespace

PropertyScan PropertyScan::of(std::string_view text) noexcept {
    PropertyScan scan;
    PropertyReader reader(text);
    std::string_view name;
    std::string_view value;
    std::size_t seen = 0;
    while (reader.next(name, value)) {
        seen += propertyBytes(name, value);
        // Names differ in their first letter often enough that most properties cost one comparison.
        switch (name.front()) {
            case 'U': if (name == kPropertyUniqueKey) scan.uniqueKey = value; break;
            case 'K': if (name == kPropertyKeys) scan.keys = value; break;
            case 'W': if (name == kPropertyWaitStoreOk) scan.waitStored = value != "false"; break;
            case 'D': if (name == kPropertyDelayLevel) scan.delayLevel = value; break;
            case 'I': if (name == kPropertyInnerNum) scan.innerNum = true; break;
            case 'T':
                if (name == kPropertyTags) {
                    scan.tags = value;
                } else if (name == kPropertyTransactionPrepared) {
                    scan.transaction = value;
                } else if (name == kPropertyTimerDelaySec || name == kPropertyTimerDelayMs || name == kPropertyTimerDeliverMs ||
                           name == kPropertyTimerDelUniqueKey) {
                    scan.timer = true;
                } else if (isBrokersOwn(name)) {
                    scan.needsRebuild = true;
                }
                break;
            default: scan.needsRebuild = scan.needsRebuild || isBrokersOwn(name); break;
        }
    }
    // The last separator is optional; anything else that was passed over is not.
    scan.needsRebuild = scan.needsRebuild || seen != text.size() + (needsPropertySeparator(text) ? 1 : 0);
    return scan;
}

std::string cleanProperties(std::string_view text) {
    Properties properties(text);
    for (const auto name : {kPropertyMsgRegion, kPropertyTraceSwitch, kPropertyCluster, kPropertyPopCk}) properties.remove(name);
    return properties.encode();
}

}  // namespace patchbay::plugins::send
