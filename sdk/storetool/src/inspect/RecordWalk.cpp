#include "RecordWalk.h"

#include <algorithm>
#include <span>

namespace patchbay::storetool {

using protocol::RecordCheck;
using protocol::RecordStatus;
using protocol::RecordView;

namespace {

constexpr std::int64_t kPieceBytes = 1 << 20;
constexpr std::int64_t kRecordBytesMin = 91;

std::string_view nameOf(RecordStatus status) noexcept {
    switch (status) {
        case RecordStatus::TooShort: return "a record reaches beyond the end of its file";
        case RecordStatus::NotARecord: return "no record begins here";
        case RecordStatus::BadCrc: return "a body does not fit its checksum";
        case RecordStatus::BadLayout: return "a part of a record reaches beyond it";
        case RecordStatus::BadSize: return "the parts of a record do not add up to its size";
        default: return "";
    }
}

}  // namespace

RecordWalk::RecordWalk(const StoreFiles& store, std::int64_t from) : store_(store), position_(std::max(from, store.logMin())) {
    const auto& files = store_.log();
    while (index_ < files.size() && files[index_].start + files[index_].bytes <= position_) ++index_;
    if (index_ < files.size()) position_ = std::max(position_, files[index_].start);
    end_ = position_;
}

void RecordWalk::nextFile() noexcept {
    ++index_;
    if (index_ < store_.log().size()) position_ = store_.log()[index_].start;
}

Result<bool> RecordWalk::fill(std::int64_t bytes) {
    const SequenceFile& file = store_.log()[index_];
    if (opened_ != index_) {
        Result<std::unique_ptr<File>> opened = store_.files().open(file.path, OpenMode::Read);
        if (!opened) return opened.error();
        open_ = std::move(*opened);
        opened_ = index_;
        buffer_.clear();
        bufferStart_ = position_;
    }
    if (position_ < bufferStart_ || position_ > bufferStart_ + static_cast<std::int64_t>(buffer_.size())) {
        buffer_.clear();
        bufferStart_ = position_;
    }
    const std::int64_t left = file.start + file.bytes - position_;
    const std::int64_t wanted = std::min(left, bytes);
    if (static_cast<std::int64_t>(ahead().size()) >= wanted) return wanted >= bytes;
    buffer_.erase(0, static_cast<std::size_t>(position_ - bufferStart_));
    bufferStart_ = position_;
    const std::size_t have = buffer_.size();
    buffer_.resize(static_cast<std::size_t>(std::min(left, std::max(bytes, kPieceBytes))));
    const Result<std::size_t> got = open_->readAt(std::span(buffer_.data() + have, buffer_.size() - have),
                                                  static_cast<std::uint64_t>(position_ - file.start) + have);
    if (!got) return got.error();
    buffer_.resize(have + *got);
    return static_cast<std::int64_t>(buffer_.size()) >= bytes;
}

Result<RecordWalk::Step> RecordWalk::next() {
    position_ += std::exchange(step_, 0);
    if (resumeAt_ >= 0) position_ = std::exchange(resumeAt_, -1);
    while (index_ < store_.log().size()) {
        const SequenceFile& file = store_.log()[index_];
        if (position_ >= file.start + file.bytes) {
            nextFile();
            continue;
        }
        const Result<bool> head = fill(static_cast<std::int64_t>(protocol::kBlankRecordBytes));
        if (!head) return head.error();
        const bool blank = *head && protocol::loadI32(ahead().data() + protocol::kRecordMagicAt) == protocol::kRecordMagicBlank;
        if (blank) {
            if (index_ + 1 == store_.log().size()) break;
            nextFile();
            continue;
        }
        const std::int64_t size = *head ? protocol::loadI32(ahead().data()) : 0;
        if (size == 0) {
            const Result<bool> zeros = isZeroToTheEnd();
            if (!zeros) return zeros.error();
            if (!*zeros) return damage("zeros where a record should begin");
            const bool last = index_ + 1 == store_.log().size();
            if (last) break;
            // A file that ends in zeros is the last one that was written.
            const std::int64_t end = position_;
            nextFile();
            const Result<bool> empty = isZeroToTheEnd();
            if (!empty) return empty.error();
            if (*empty) {
                position_ = end;
                index_ = store_.log().size();
                break;
            }
            --index_;
            position_ = end;
            return damage("a file ends without a mark, and another one follows");
        }
        if (size < kRecordBytesMin || size > file.start + file.bytes - position_) return damage(std::string(nameOf(RecordStatus::NotARecord)));
        const Result<bool> whole = fill(size);
        if (!whole) return whole.error();
        const RecordStatus status = RecordView::parse(ahead(), view_, RecordCheck::BodyCrc);
        if (status != RecordStatus::Message) return damage(std::string(nameOf(status)));
        if (view_.physicalOffset != position_) return damage("a record names another place as its own");
        step_ = size;
        end_ = position_ + size;
        return Step::Record;
    }
    position_ = end_;
    return Step::End;
}

Result<RecordWalk::Step> RecordWalk::damage(std::string what) {
    what_ = std::move(what);
    const std::int64_t at = position_;
    ++position_;
    const Result<bool> found = resync();
    if (!found) return found.error();
    resumeAt_ = *found ? position_ : store_.log()[index_].start + store_.log()[index_].bytes;
    position_ = at;
    return Step::Damage;
}

Result<bool> RecordWalk::resync() {
    const SequenceFile& file = store_.log()[index_];
    const std::int64_t end = file.start + file.bytes;
    RecordView view;
    while (end - position_ >= kRecordBytesMin) {
        const Result<bool> filled = fill(std::min(kPieceBytes, end - position_));
        if (!filled) return filled.error();
        const std::string_view piece = ahead();
        if (piece.size() < static_cast<std::size_t>(kRecordBytesMin)) return false;
        const std::size_t starts = piece.size() - protocol::kRecordBornHostAt;
        const std::int64_t begin = position_;
        for (std::size_t i = 0; i < starts; ++i) {
            const std::int64_t at = begin + static_cast<std::int64_t>(i);
            if (protocol::loadI64(piece.data() + i + protocol::kRecordPhysicalOffsetAt) != at) continue;
            const std::int64_t size = protocol::loadI32(piece.data() + i);
            if (size < kRecordBytesMin || size > end - at) continue;
            position_ = at;
            const Result<bool> whole = fill(size);
            if (!whole) return whole.error();
            if (RecordView::parse(ahead(), view, RecordCheck::BodyCrc) == RecordStatus::Message) return true;
            // fill() may have moved the buffer under `piece`: begin again behind this one.
            position_ = at + 1;
            break;
        }
        if (position_ == begin) position_ = begin + static_cast<std::int64_t>(starts);
    }
    return false;
}

Result<bool> RecordWalk::isZeroToTheEnd() {
    const SequenceFile& file = store_.log()[index_];
    const std::int64_t at = position_;
    while (position_ < file.start + file.bytes) {
        const Result<bool> filled = fill(std::min(kPieceBytes, file.start + file.bytes - position_));
        if (!filled) return filled.error();
        const std::string_view piece = ahead();
        if (piece.empty()) break;
        if (piece.find_first_not_of('\0') != std::string_view::npos) {
            position_ = at;
            return false;
        }
        position_ += static_cast<std::int64_t>(piece.size());
    }
    position_ = at;
    return true;
}

}  // namespace patchbay::storetool
