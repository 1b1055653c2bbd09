// Arbitrary bytes as the body of a batch: entries stay inside them, and counting and walking agree.
#include "patchbay/protocol/message/Batch.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace patchbay::protocol;
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    BatchReader reader(bytes);
    BatchEntry entry;
    std::string again;
    std::uint32_t entries = 0;
    while (reader.next(entry)) {
        appendBatchEntry(again, entry);
        ++entries;
    }
    const auto count = countBatch(bytes);
    if (count.has_value() == reader.failed()) std::abort();
    if (count && (*count != entries || again.size() != bytes.size() || countBatch(again) != count)) std::abort();
    return 0;
}
