#include "TimerProgress.h"

#include "patchbay/base/BackedFile.h"
#include "patchbay/protocol/util/BigEndian.h"

#include <algorithm>

namespace patchbay::plugins::timer {

namespace {

using protocol::appendBe;
using protocol::loadI64;

constexpr std::size_t kFileBytes = 4096;
constexpr std::size_t kOldBytes = 32;    // before there was a version
constexpr std::size_t kUsedBytes = 56;

}  // namespace

Status TimerProgress::load(plugin::Logger& log) {
    version_.timestamp = clock_.wallMs();
    const auto content = readBacked(files_, path_, [this](std::string_view bytes) { return accept(bytes); });
    if (!content) return content.error();
    if (!content->problem.empty()) {
        const bool backup = content->source == BackedContent::Source::Backup;
        log.error(backup ? "timer progress damaged, its backup is used" : "timer progress damaged, every timed message is looked at again",
                  {{"file", path_}, {"problem", content->problem}});
    }
    return Status::ok();
}

Status TimerProgress::accept(std::string_view bytes) {
    if (bytes.size() < kOldBytes) return {StatusCode::Corrupt, "the file is too short"};
    const auto at = [&bytes](std::size_t index) { return loadI64(bytes.data() + 8 * index); };
    const TimerMark mark{at(0), at(2), at(3), at(1)};
    if (mark.timerLog < 0 || mark.deliveredMs < 0 || mark.replayFrom < 0 || mark.queueOffset < mark.replayFrom) {
        return {StatusCode::Corrupt, "its numbers contradict each other"};
    }
    if (mark == TimerMark{}) return {StatusCode::Corrupt, "it is all zeros"};
    mark_ = mark;
    if (bytes.size() >= kUsedBytes) version_ = {at(6), at(4), at(5)};
    return Status::ok();
}

std::string TimerProgress::encode(const TimerMark& mark) const {
    std::string bytes;
    bytes.reserve(kFileBytes);
    for (const std::int64_t value : {mark.deliveredMs, mark.timerLog, mark.replayFrom, mark.queueOffset, version_.stateVersion,
                                     version_.timestamp, version_.counter}) {
        appendBe(bytes, value);
    }
    bytes.resize(kFileBytes);
    return bytes;
}

Status TimerProgress::persist(const TimerMark& mark, service::MessageStore& store) {
    // Time alone is no news: what it passes over was not there. In a timer log it may have been.
    if (mark.timerLog == 0 && mark.replayFrom == mark_.replayFrom && mark.queueOffset == mark_.queueOffset &&
        mark.replayFrom == mark.queueOffset) {
        return Status::ok();
    }
    if (mark == mark_) return Status::ok();
    version_.next(clock_.wallMs());
    if (Status flushed = store.flush(); !flushed) return flushed;
    if (Status made = files_.makeDirectories(directoryOf(path_)); !made) return made;
    if (Status written = files_.replaceAtomically(path_, encode(mark), true); !written) return written;
    mark_ = mark;
    return Status::ok();
}

}  // namespace patchbay::plugins::timer
