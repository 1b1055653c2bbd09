#include "KeyIndex.h"

#include <algorithm>
#include <pthread.h>

namespace patchbay::mmapstore {

using protocol::RecordCheck;
using protocol::RecordStatus;
using protocol::RecordView;

namespace {

constexpr std::chrono::milliseconds kInterval{20};
constexpr int kQuietIntervals = 25;  // without anything new until the thread sleeps
constexpr std::int64_t kHeadBytes = 8;
constexpr int kStepsForAQuery = 16;
constexpr std::chrono::seconds kRetryInterval{10};  // each try takes what is left of the disk for a moment

}  // namespace

void KeyIndex::start() {
    if (!p_.options.keyIndex) return;
    stopping_ = false;
    // What is there already is read.
    handedFrom_ = handedTo_ = p_.state.visibleEnd.load(std::memory_order_acquire);
    thread_ = std::thread([this] {
        ::pthread_setname_np(::pthread_self(), "mmap-index");
        run();
    });
}

Status KeyIndex::open(const Checkpoint& checkpoint, bool clean, const StopMark* mark) {
    if (!p_.options.keyIndex) return Status::ok();
    const std::lock_guard lock(mutex_);
    const IndexFile::Size size{p_.options.indexSlots, p_.options.indexEntries};
    files_.clear();
    if (Status made = p_.files.makeDirectories(p_.layout.index()); !made) return made;
    const Result<std::vector<FileInfo>> listed = p_.files.list(p_.layout.index());
    if (!listed) return listed.error();
    for (const FileInfo& info : *listed) {
        if (info.directory) continue;
        const std::string path = p_.layout.index() + "/" + info.name;
        Result<std::unique_ptr<IndexFile>> file = IndexFile::open(p_.files, path, size);
        if (!file && file.error().code() == StatusCode::Corrupt) {
            // Of another size, or no index file at all: it stays, and what it may hold is indexed again.
            p_.log.warn("a key-index file is not used", {{"reason", file.error().message()}});
            continue;
        }
        if (!file) return file.error();
        const IndexFile::Header& header = (*file)->header();
        // Durable before the log was, whose end a power cut took: other messages come to lie at the places that it names.
        const bool beyond = (header.count > 1 || header.endPhysical > 0) && header.endPhysical >= p_.state.visibleEnd.load();
        if (beyond || (!clean && header.endTime > checkpoint.indexTime)) {
            if (Status removed = p_.files.remove(path); !removed) return removed;
            removed_.push_back(std::move(*file));
            continue;
        }
        if ((*file)->isSealed()) {
            p_.log.warn("a key-index file is only read, because it is sparse and the disk has no room for the rest", {{"file", path}});
        }
        files_.push_back(std::move(*file));
    }
    if (mark != nullptr) {
        if (Status dropped = dropChanged(*mark); !dropped) return dropped;
    }
    position_ = files_.empty() ? 0 : files_.back()->header().endPhysical;
    return Status::ok();
}

StopMark::Index KeyIndex::describe(const IndexFile& file) {
    return {file.path().substr(file.path().rfind('/') + 1), file.header().count, file.header().endPhysical};
}

Status KeyIndex::dropChanged(const StopMark& mark) {
    std::size_t good = 0;
    while (good < files_.size() && good < mark.indexes.size() && describe(*files_[good]) == mark.indexes[good]) ++good;
    if (good == mark.indexes.size()) return Status::ok();
    p_.log.warn("key-index files are not as the last stop left them; they are built again from the commit log",
                {{"from", mark.indexes[good].name}, {"files", mark.indexes.size() - good}});
    for (; files_.size() > good; files_.pop_back()) {
        if (Status removed = p_.files.remove(files_.back()->path()); !removed) return removed;
        removed_.push_back(std::move(files_.back()));
    }
    return Status::ok();
}

void KeyIndex::stopThread() noexcept {
    {
        const std::lock_guard lock(wakeMutex_);
        stopping_ = true;
        wake_.notify_all();
    }
    if (thread_.joinable()) thread_.join();
}

void KeyIndex::stop() noexcept {
    if (!thread_.joinable()) return;
    stopThread();
    const std::lock_guard lock(mutex_);
    // What is not indexed yet is found from the end of the last file by the next start.
    (void)advance(p_.state.visibleEnd.load(std::memory_order_acquire));
    if (!files_.empty()) {
        Status written = files_.back()->write();
        if (written) written = files_.back()->sync();
        report(written);
    }
    left_.clear();
    for (const std::unique_ptr<IndexFile>& file : files_) left_.push_back(describe(*file));
    window_ = Window();
    files_.clear();
}

void KeyIndex::appended(std::span<const service::AppendedRecord> records) noexcept {
    bool much = false;
    {
        const std::lock_guard lock(handMutex_);
        const std::size_t before = handed_.size();
        for (const service::AppendedRecord& record : records) handOver(record);
        much = before < kHandedMax / 2 && handed_.size() >= kHandedMax / 2;
    }
    // The end of the log was made visible before: of the two exchanges the later one sees what came before the earlier one, so
    // either this finds the sleeper, or the sleeper sees the new end.
    if (!asleep_.exchange(false) && !much) return;
    const std::lock_guard lock(wakeMutex_);
    hurry_ = true;
    wake_.notify_all();
}

void KeyIndex::run() {
    {
        std::vector<std::unique_ptr<IndexFile>> removed;
        const std::lock_guard guard(mutex_);
        removed.swap(removed_);
        // Closed behind the lock.
    }
    int quiet = 0;
    std::int64_t seen = -1;
    while (true) {
        bool more = false;
        {
            const std::lock_guard guard(mutex_);
            more = advance(p_.state.visibleEnd.load(std::memory_order_acquire));
        }
        const std::int64_t end = p_.state.visibleEnd.load(std::memory_order_acquire);
        quiet = end == seen ? quiet + 1 : 0;
        seen = end;
        std::unique_lock lock(wakeMutex_);
        if (stopping_) return;
        if (more) continue;
        if (quiet < kQuietIntervals) {
            (void)p_.clock.waitFor(wake_, lock, kInterval, [&] { return stopping_ || std::exchange(hurry_, false); });
            continue;
        }
        {
            lock.unlock();
            const std::lock_guard guard(mutex_);
            if (!files_.empty()) report(files_.back()->write());
            window_ = Window();
            lock.lock();
        }
        asleep_.exchange(true);
        if (p_.state.visibleEnd.load(std::memory_order_acquire) == seen) {
            wake_.wait(lock, [&] { return stopping_ || !asleep_.load(); });
        }
        asleep_.store(false);
        quiet = 0;
    }
}

void KeyIndex::handOver(const service::AppendedRecord& record) {
    const std::int64_t at = record.physicalOffset;
    if (at < handedTo_) return;  // a further queue of the message before
    // Behind a gap (a new file; what consumers do not see is not announced) or with too much at hand, the log is read up to here.
    if (at != handedTo_ || handed_.size() >= kHandedMax) {
        handed_.clear();
        handedFrom_ = at;
    }
    forEachIndexHash(record.topic, record.properties,
                     [&](std::int32_t hash) { handed_.push_back({hash, at, record.storeTimestamp}); });
    handedTo_ = at + record.recordBytes;
}

std::int64_t KeyIndex::handedFrom() {
    const std::lock_guard lock(handMutex_);
    return handedFrom_;
}

void KeyIndex::takeHanded() {
    std::int64_t to = 0;
    taken_.clear();
    {
        const std::lock_guard lock(handMutex_);
        if (position_ < handedFrom_ || isWaiting()) return;
        taken_.swap(handed_);
        to = handedFrom_ = handedTo_;
    }
    for (const Entry& entry : taken_) {
        if (entry.physical < position_) continue;
        if (entry.physical > position_) added_ = 0;
        position_ = entry.physical;
        if (!add(entry)) return;  // it and what follows is read from the log later
        ++added_;
    }
    added_ = 0;
    position_ = std::max(position_, to);
}

bool KeyIndex::advance(std::int64_t end) {
    if (step(std::min(end, handedFrom()))) return true;
    takeHanded();
    return false;
}

Status KeyIndex::look(std::int64_t bytes, std::int64_t end) {
    if (!window_ || !window_.covers(position_, bytes)) {
        Result<Window> window = p_.windows.find(position_, bytes);
        if (!window) return window.error();
        window_ = std::move(*window);
        populated_ = position_;
    }
    if (position_ + bytes <= populated_) return Status::ok();
    const std::int64_t ahead = std::min({end, window_.to, position_ + kPopulatedAtOnce});
    if (ahead > position_ + bytes && window_.populate(position_, ahead - position_)) {
        populated_ = ahead;
        return Status::ok();
    }
    populated_ = position_ + bytes;
    if (window_.populate(position_, bytes)) return Status::ok();
    // For good, as a rule: what follows would have to wait for ever.
    return {StatusCode::Corrupt, "a part of the log cannot be read"};
}

bool KeyIndex::step(std::int64_t end) {
    if (isWaiting()) return false;
    if (position_ < p_.commitLog.min()) {
        position_ = p_.commitLog.min();
        added_ = 0;
    }
    const std::int64_t stopAt = position_ + kBytesAtOnce;
    while (position_ < end && position_ < stopAt) {
        const std::int64_t nextFile = p_.commitLog.segmentStart(position_) + p_.commitLog.segmentBytes();
        if (nextFile - position_ < kHeadBytes) {
            position_ = nextFile;
            continue;
        }
        Status good = look(kHeadBytes, end);
        RecordView record;
        RecordStatus kind = RecordStatus::NotARecord;
        std::int64_t size = 0;
        if (good) {
            size = protocol::loadI32(window_.at(position_, kHeadBytes).data());
            const std::int32_t magic = protocol::loadI32(window_.at(position_, kHeadBytes).data() + protocol::kRecordMagicAt);
            if (magic == protocol::kRecordMagicBlank) {
                position_ = nextFile;
                continue;
            }
            if (size < kHeadBytes || size > nextFile - position_) {
                good = {StatusCode::Corrupt, "no record"};
            } else {
                good = look(size, end);
            }
        }
        if (position_ < p_.commitLog.min()) {  // its file was removed under the look
            position_ = p_.commitLog.min();
            added_ = 0;
            continue;
        }
        if (good.code() == StatusCode::Io) {
            // Tried again with what comes next: nothing that is there is passed over.
            p_.log.limited(plugin::LogLevel::Error, "the key index cannot read the log", {{"at", position_}, {"error", good.toString()}});
            return false;
        }
        if (good) kind = RecordView::parse(window_.at(position_, size), record, RecordCheck::Layout);
        if (kind != RecordStatus::Message) {
            p_.log.limited(plugin::LogLevel::Warn, "the key index passes over a part of the log",
                           {{"from", position_}, {"to", std::min(end, nextFile)}});
            position_ = std::min(end, nextFile);
            continue;
        }
        // The last file ends with the record at which this began.
        const bool fresh = added_ > 0 || files_.empty() || files_.back()->header().count <= 1 || position_ > files_.back()->header().endPhysical;
        if (fresh && protocol::transactionType(record.sysFlag) != protocol::kSysFlagRollback) {
            bool all = true;
            std::size_t key = 0;
            forEachIndexHash(record.topic, record.properties, [&](std::int32_t hash) {
                if (!all || key++ < added_) return;
                all = add({hash, record.physicalOffset, record.storeTimestamp});
                if (all) ++added_;
            });
            if (!all) return false;
        }
        added_ = 0;
        position_ += size;
    }
    return position_ < end;
}

bool KeyIndex::add(const Entry& entry) {
    if (!makeRoom()) return false;
    files_.back()->add(entry.hash, entry.physical, entry.storeTime);
    if (files_.back()->pending() >= kPendingMax) report(files_.back()->write());
    return true;
}

bool KeyIndex::isWaiting() const {
    return (files_.empty() || files_.back()->isFull()) && p_.clock.now() < nextTry_;
}

bool KeyIndex::makeRoom() {
    if (!files_.empty() && !files_.back()->isFull()) return true;
    if (isWaiting()) return false;
    const Status made = nextFile();
    report(made);
    if (!made) nextTry_ = p_.clock.now() + kRetryInterval;
    return made.isOk();
}

Status KeyIndex::nextFile() {
    if (!files_.empty() && !lastCompleted_) {
        if (Status written = files_.back()->write(); !written) return written;
        if (Status synced = files_.back()->sync(); !synced) return synced;
        lastCompleted_ = true;
        p_.fileCompleted(files_.back()->header().endTime);
    }
    const IndexFile::Size size{p_.options.indexSlots, p_.options.indexEntries};
    Result<std::unique_ptr<IndexFile>> file = IndexFile::create(p_.files, p_.layout.index() + "/" + p_.fileName(), size,
                                                                files_.empty() ? nullptr : &files_.back()->header());
    if (!file) return file.error();
    report(p_.files.syncDirectory(p_.layout.index()));
    files_.push_back(std::move(*file));
    lastCompleted_ = false;
    return Status::ok();
}

void KeyIndex::report(const Status& status) {
    if (!status) p_.log.limited(plugin::LogLevel::Error, "the key index cannot be written", {{"error", status.toString()}});
}

Result<std::vector<std::int64_t>> KeyIndex::find(const service::KeyQuery& query) {
    std::vector<std::int64_t> found;
    const std::lock_guard lock(mutex_);
    const std::int64_t end = p_.state.visibleEnd.load(std::memory_order_acquire);
    for (int i = 0; i < kStepsForAQuery && (advance(end) || step(end)); ++i) {}
    if (files_.empty()) return found;
    if (Status written = files_.back()->write(); !written) return written;
    const std::int32_t hash = indexHash(query.topic, query.key);
    std::int64_t budget = kLookedAtMax;
    bool more = true;
    for (auto file = files_.rbegin(); more && file != files_.rend(); ++file) {
        const IndexFile::Header& header = (*file)->header();
        if (header.count > 1 && header.beginTime <= query.endMs && header.endTime >= query.beginMs) {
            const Status searched = (*file)->find(hash, query.beginMs, query.endMs, budget, [&](std::int64_t physical) {
                // A message whose KEYS repeat its UNIQ_KEY has two entries.
                if (found.empty() || found.back() != physical) found.push_back(physical);
                return found.size() < kCandidatesMax;
            });
            if (!searched) return searched;
        }
        more = header.beginTime >= query.beginMs && budget > 0 && found.size() < kCandidatesMax;
    }
    return found;
}

IndexFile::Header KeyIndex::last() {
    const std::lock_guard lock(mutex_);
    return files_.empty() ? IndexFile::Header{} : files_.back()->header();
}

void KeyIndex::trim(std::int64_t logMin) {
    const std::lock_guard lock(mutex_);
    while (files_.size() > 1 && files_.front()->header().endPhysical < logMin) {
        if (!p_.files.remove(files_.front()->path())) return;
        files_.erase(files_.begin());
    }
}

}  // namespace patchbay::mmapstore
