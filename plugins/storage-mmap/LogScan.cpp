#include "LogScan.h"

#include <algorithm>

namespace patchbay::mmapstore {

using protocol::RecordStatus;
using protocol::RecordView;

namespace {

constexpr std::size_t kPieceBytes = 1U << 20;

}  // namespace

LogScan::Step LogScan::next(std::int64_t end) {
    position_ += std::exchange(step_, 0);
    while (position_ < end) {
        if (!openSegment(log_.segmentStart(position_))) return failure_ ? Step::End : Step::Failed;
        if (!fill(protocol::kBlankRecordBytes)) return Step::Failed;
        if (ahead().size() < protocol::kBlankRecordBytes) return Step::End;
        const std::int32_t size = protocol::loadI32(ahead().data());
        const std::int32_t magic = protocol::loadI32(ahead().data() + protocol::kRecordMagicAt);
        if (magic == protocol::kRecordMagicBlank) {
            const std::int64_t after = segment_ + log_.segmentBytes();
            const std::vector<std::int64_t> segments = log_.segments();
            const auto next = std::lower_bound(segments.begin(), segments.end(), after);
            // The next write begins at this marker when no file follows.
            if (next == segments.end()) return Step::End;
            position_ = *next;  // as a rule `after`; files in between may have been lost
            continue;
        }
        if (size <= 0 || size > log_.bytesLeft(position_)) return Step::End;
        if (magic != protocol::kRecordMagicV1 && magic != protocol::kRecordMagicV2) return Step::End;
        if (!fill(static_cast<std::size_t>(size))) return Step::Failed;
        if (RecordView::parse(ahead(), view_, check_) != RecordStatus::Message) return Step::End;
        step_ = size;
        return Step::Record;
    }
    return Step::End;
}

bool LogScan::openSegment(std::int64_t start) {
    if (segment_ == start && file_) return true;
    const std::vector<std::int64_t> segments = log_.segments();
    if (!std::binary_search(segments.begin(), segments.end(), start)) return false;
    Result<std::unique_ptr<File>> file = log_.openForRead(start);
    if (!file) {
        failure_ = file.error();
        return false;
    }
    file_ = std::move(*file);
    segment_ = start;
    buffer_.clear();
    bufferStart_ = position_;
    return true;
}

bool LogScan::fill(std::size_t bytes) {
    if (ahead().size() >= bytes) return true;
    buffer_.erase(0, static_cast<std::size_t>(position_ - bufferStart_));
    bufferStart_ = position_;
    const std::size_t have = buffer_.size();
    const auto left = static_cast<std::size_t>(log_.bytesLeft(position_));
    buffer_.resize(std::min(left, std::max(bytes, kPieceBytes)));
    const Result<std::size_t> got = file_->readAt(std::span(buffer_.data() + have, buffer_.size() - have),
                                                  static_cast<std::uint64_t>(position_ - segment_) + have);
    if (!got) {
        failure_ = got.error();
        return false;
    }
    buffer_.resize(have + *got);
    return true;
}

}  // namespace patchbay::mmapstore
