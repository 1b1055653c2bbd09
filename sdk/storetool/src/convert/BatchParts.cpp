#include "BatchParts.h"

#include "InnerBatch.h"
#include "RecordSink.h"

#include "patchbay/base/Assert.h"
#include "patchbay/protocol/message/SysFlag.h"
#include "patchbay/protocol/util/Compression.h"

namespace patchbay::storetool {

namespace {

constexpr std::size_t kPlainBytesMax = 256U << 20;
/// Consumers unwrap what has both.
constexpr std::int32_t kUnwrapped = protocol::kSysFlagInnerBatch | protocol::kSysFlagNeedUnwrap;

Status unsupported(std::string why) { return {StatusCode::Unsupported, std::move(why)}; }

}  // namespace

bool BatchParts::holdsSeveral(const protocol::RecordView& record) noexcept {
    return (record.sysFlag & protocol::kSysFlagInnerBatch) != 0 || mmapstore::innerBatchOf(record.properties);
}

Status BatchParts::begin(const protocol::RecordView& record) {
    entries_.reset();
    const auto inner = mmapstore::innerBatchOf(record.properties).value_or(mmapstore::InnerBatch{record.queueOffset, 1});
    if (inner.base != record.queueOffset) return unsupported("INNER_BASE is not the offset of the record");
    if ((record.sysFlag & kUnwrapped) != kUnwrapped) {
        return unsupported("it takes " + std::to_string(inner.messages) + " offsets and is one message to consumers");
    }
    std::string_view body = record.body;
    if ((record.sysFlag & protocol::kSysFlagCompressed) != 0) {
        const auto type = protocol::compressionTypeOf(record.sysFlag);
        if (!type) return unsupported("its compression is not known");
        auto plain = protocol::decompress(*type, body, kPlainBytesMax);
        if (!plain) return unsupported(plain.error().message());
        plain_ = std::move(*plain);
        body = plain_;
    }
    const auto count = protocol::countBatch(body);
    if (!count) return unsupported("its body does not divide into whole messages");
    if (static_cast<std::int64_t>(*count) != inner.messages) {
        return unsupported("it takes " + std::to_string(inner.messages) + " offsets and holds " + std::to_string(*count) + " messages");
    }
    if (inner.messages > record.size) return unsupported("it has fewer bytes than messages");
    fields_ = fieldsOf(record);
    fields_.sysFlag &= ~(kUnwrapped | protocol::kSysFlagCompressed | protocol::kSysFlagCompressionMask);
    entries_.emplace(body);
    return Status::ok();
}

bool BatchParts::next(protocol::RecordView& part) {
    protocol::BatchEntry entry;
    if (!entries_ || !entries_->next(entry)) {
        entries_.reset();
        return false;
    }
    fields_.flag = entry.flag;
    fields_.body = entry.body;
    fields_.properties = entry.properties;
    part_.resize(protocol::recordSize(fields_));
    protocol::encodeRecord(part_.data(), fields_);
    ++fields_.queueOffset;
    ++fields_.physicalOffset;
    const auto parsed = protocol::RecordView::parse(part_, part);
    PATCHBAY_ASSERT(parsed == protocol::RecordStatus::Message);
    return true;
}

}  // namespace patchbay::storetool
