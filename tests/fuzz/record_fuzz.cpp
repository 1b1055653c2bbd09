// Arbitrary bytes as a commit-log record: every view stays inside them, and what is a record is written again as it
// was.
#include "patchbay/protocol/message/MessageRecord.h"
#include "patchbay/protocol/message/Properties.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

bool inside(std::string_view part, std::string_view whole) {
    return part.empty() || (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

void require(bool condition) {
    if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace patchbay::protocol;
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    for (const RecordCheck check : {RecordCheck::Layout, RecordCheck::BodyCrc, RecordCheck::PropertyCrc}) {
        RecordView view;
        if (RecordView::parse(bytes, view, check) != RecordStatus::Message) continue;
        for (const std::string_view part : {view.bytes, view.body, view.topic, view.properties}) {
            require(inside(part, bytes));
        }
        if (check == RecordCheck::Layout) continue;
        // Ports beyond 16 bits, short topics in a V2 record and CRCs of empty bodies are not written so by anybody.
        std::string again(recordSize(view.fields()), '\0');
        encodeRecord(again.data(), view.fields());
        RecordView second;
        require(RecordView::parse(again, second) == RecordStatus::Message);
        require(second.body == view.body && second.topic == view.topic && second.properties == view.properties);
        require(second.queueOffset == view.queueOffset && second.sysFlag == view.sysFlag);
    }
    return 0;
}
