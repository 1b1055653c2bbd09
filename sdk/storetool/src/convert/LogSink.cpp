#include "LogSink.h"

#include "Layout.h"

namespace patchbay::storetool {

namespace {

constexpr std::size_t kGatheredMax = 4U << 20;
constexpr auto kBlank = static_cast<std::int64_t>(protocol::kBlankRecordBytes);

}  // namespace

Status LogSink::begin(const std::vector<OrderedReader::QueueRange>&) {
    if (Status made = files_.makeDirectories(directory_); !made) return made;
    return open(0);
}

Status LogSink::open(std::int64_t start) {
    auto opened = files_.open(directory_ + "/" + mmapstore::fileName(start), OpenMode::Create);
    if (!opened) return opened.error();
    file_ = std::move(*opened);
    start_ = start;
    // Whole at once, as the store expects its files; blocks that stay empty take no room.
    return file_->truncate(static_cast<std::uint64_t>(segmentBytes_));
}

Status LogSink::write() {
    if (gathered_.empty()) return Status::ok();
    const auto at = static_cast<std::uint64_t>(position_ - start_) - gathered_.size();
    Status written = file_->writeAt(gathered_, at);
    gathered_.clear();
    return written;
}

Status LogSink::roll() {
    const std::int64_t left = start_ + segmentBytes_ - position_;
    const std::size_t at = gathered_.size();
    gathered_.resize(at + protocol::kBlankRecordBytes);
    protocol::encodeBlankRecord(gathered_.data() + at, static_cast<std::int32_t>(left));
    position_ += kBlank;
    if (Status written = write(); !written) return written;
    if (Status synced = file_->sync(); !synced) return synced;
    position_ = start_ + segmentBytes_;
    return open(position_);
}

Status LogSink::add(const protocol::RecordView& record) {
    auto fields = fieldsOf(record);
    const auto bytes = static_cast<std::int64_t>(protocol::recordSize(fields));
    if (bytes + kBlank > segmentBytes_) {
        return {StatusCode::OutOfRange, "a message of topic " + std::string(record.topic) + " has " + std::to_string(bytes) +
                                            " bytes and does not fit into a commit-log file of " + std::to_string(segmentBytes_)};
    }
    if (bytes + kBlank > start_ + segmentBytes_ - position_) {
        if (Status rolled = roll(); !rolled) return rolled;
    }
    fields.physicalOffset = position_;
    const std::size_t at = gathered_.size();
    gathered_.resize(at + static_cast<std::size_t>(bytes));
    char* const out = gathered_.data() + at;
    protocol::encodeRecord(out, fields);
    // The checksum of a whole record includes its place.
    if (protocol::propertyCrcMatches(record.bytes)) protocol::writePropertyCrc(out, static_cast<std::size_t>(bytes));
    position_ += bytes;
    return gathered_.size() < kGatheredMax ? Status::ok() : write();
}

Status LogSink::finish(std::int64_t) {
    if (Status written = write(); !written) return written;
    if (Status synced = file_->sync(); !synced) return synced;
    file_.reset();
    return files_.syncDirectory(directory_);
}

}  // namespace patchbay::storetool
