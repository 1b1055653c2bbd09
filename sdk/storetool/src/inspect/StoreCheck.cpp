// compare(): every record, every unit, every index entry.
#include "Inspection.h"
#include "Line.h"
#include "QueueCheck.h"
#include "RecordWalk.h"

#include "DeletedTopics.h"
#include "IndexFile.h"

#include "patchbay/protocol/message/Properties.h"
#include "patchbay/protocol/message/PropertyNames.h"
#include "patchbay/protocol/message/SysFlag.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <span>
#include <utility>

namespace patchbay::storetool {

namespace {

using protocol::loadI32;
using protocol::loadI64;

constexpr std::int64_t kProgressBytes = 8 << 20;
constexpr std::int64_t kIndexHeaderBytes = 40;
constexpr std::int64_t kIndexEntryBytes = 20;
constexpr std::int64_t kRecordBytesMax = 1 << 30;
constexpr std::string_view kCrcName = "__CRC32#";

bool isQueued(const protocol::RecordView& record) noexcept {
    const std::int32_t type = protocol::transactionType(record.sysFlag);
    return type == protocol::kSysFlagNotTransactional || type == protocol::kSysFlagCommit;
}

/// One check under way.
class Checker {
public:
    Checker(const StoreFiles& store, const StoreToolOptions& options, std::string_view kind, const LineSink& out, const ToolWatcher& watcher)
        : store_(store), options_(options), kind_(kind), out_(out), watcher_(watcher), log_(store),
          deleted_(store.files(), store.root() + "/deletedTopics") {}

    Result<CheckReport> run() {
        for (const auto step : {&Checker::checkLogFiles, &Checker::findQueues, &Checker::findIndexes, &Checker::checkLog, &Checker::checkQueues,
                                &Checker::sayWithoutQueue, &Checker::checkIndexes, &Checker::sayNotIndexed}) {
            if (Status done = (this->*step)(); !done) return done;
        }
        return report_;
    }

private:
    using QueueId = std::pair<std::string, std::int32_t>;

    Line problem(std::string_view what) {
        ++report_.problems;
        Line line(options_.json, kind_);
        line.add("what", what);
        return line;
    }
    Line note(std::string_view what) const {
        Line line(options_.json, "note");
        line.add("what", what);
        return line;
    }
    Status say(Line line) const { return std::move(line).to(out_); }

    Status progress(std::string_view what, std::int64_t done, std::int64_t total) {
        if (!watcher_ || watcher_({what, done, total})) return Status::ok();
        return {StatusCode::Cancelled, "given up"};
    }

    Status checkLogFiles() {
        const std::vector<SequenceFile>& files = store_.log();
        for (std::size_t i = 0; i < files.size(); ++i) {
            const bool last = i + 1 == files.size();
            const char* what = nullptr;
            if (files[i].bytes != store_.logFileBytes()) what = last ? "the newest commit-log file is short" : "a commit-log file has another size";
            if (i > 0 && files[i].start == files[i - 1].start) what = "a part of the log is there twice";
            if (i > 0 && files[i].start > files[i - 1].start + store_.logFileBytes()) what = "commit-log files are missing before this one";
            if (what == nullptr) continue;
            Line line = problem(what);
            line.add("file", files[i].path).add("bytes", files[i].bytes);
            if (Status put = say(std::move(line)); !put) return put;
        }
        return Status::ok();
    }

    Status findQueues() {
        Result<std::vector<QueueFolder>> found = store_.queues();
        if (!found) return found.error();
        folders_ = std::move(*found);
        for (const QueueFolder& folder : folders_) {
            auto check = std::make_unique<QueueCheck>(store_, folder);
            if (const std::string wrong = check->structure(); !wrong.empty()) {
                Line line = problem("the files of a consume queue do not fit together");
                line.add("topic", folder.topic).add("queue", std::int64_t{folder.id}).add("reason", wrong);
                if (Status put = say(std::move(line)); !put) return put;
            }
            queues_.emplace(QueueId(folder.topic, folder.id), std::move(check));
        }
        return Status::ok();
    }

    Status checkLog() {
        RecordWalk walk(store_, 0);
        const std::int64_t from = walk.position();
        const std::int64_t total = store_.log().empty() ? 0 : store_.log().back().start + store_.log().back().bytes - from;
        std::int64_t said = from;
        while (true) {
            const Result<RecordWalk::Step> step = walk.next();
            if (!step) return step.error();
            if (*step == RecordWalk::Step::End) break;
            if (walk.position() - said >= kProgressBytes) {
                said = walk.position();
                if (Status go = progress("commit log", said - from, total); !go) return go;
            }
            if (Status done = *step == RecordWalk::Step::Record ? take(walk) : damage(walk); !done) return done;
        }
        report_.end = walk.position();
        return progress("commit log", total, total);
    }

    Status damage(const RecordWalk& walk) {
        Line line = problem(walk.what());
        line.add("file", walk.file()->path).add("fileOffset", walk.position() - walk.file()->start).add("position", walk.position());
        return say(std::move(line));
    }

    Status take(const RecordWalk& walk) {
        const protocol::RecordView& record = walk.record();
        ++report_.records;
        const bool named = !protocol::findProperty(record.properties, kCrcName).empty();
        if (named && !protocol::propertyCrcMatches(record.bytes)) {
            Line line = problem("a record does not fit the checksum in its properties");
            line.add("file", walk.file()->path).add("fileOffset", walk.position() - walk.file()->start);
            if (Status put = say(std::move(line)); !put) return put;
        }
        lookForGap(record);
        if (!isQueued(record) || deleted_.contains(record.topic, record.physicalOffset)) return Status::ok();
        const auto queue = queues_.find(QueueId(record.topic, record.queueId));
        if (queue == queues_.end()) {
            ++withoutQueue_[QueueId(record.topic, record.queueId)];
            return Status::ok();
        }
        return queue->second->folder().batch ? Status::ok() : queue->second->see(record, log_);
    }

    Status checkQueues() {
        std::int64_t done = 0;
        for (const auto& [id, queue] : queues_) {
            if (Status counted = queue->count(log_, report_.end); !counted) return counted;
            report_.units += queue->units;
            if (Status put = sayQueue(*queue); !put) return put;
            if (Status go = progress("consume queues", ++done, static_cast<std::int64_t>(queues_.size())); !go) return go;
        }
        return Status::ok();
    }

    Status sayQueue(const QueueCheck& queue) {
        const auto line = [&](std::string_view what, std::int64_t count, std::int64_t first) {
            Line result = problem(what);
            result.add("topic", queue.folder().topic).add("queue", std::int64_t{queue.folder().id}).add("count", count);
            if (first >= 0) result.add("first", first);
            return say(std::move(result));
        };
        Status put;
        if (queue.missing > 0) put = line("messages of the log are not in their consume queue", queue.missing, queue.firstMissing);
        if (put && queue.wrong > 0) put = line("units of a consume queue point to something else", queue.wrong, queue.firstWrong);
        if (put && queue.beyond > 0) put = line("units of a consume queue point behind the end of the log", queue.beyond, -1);
        return put;
    }

    /// A topic that a Java broker deleted leaves no other trace, and is in no list of topics any more.
    Status sayWithoutQueue() {
        if (withoutQueue_.empty()) return Status::ok();
        const Result<std::string> topics = store_.files().readAll(store_.root() + "/config/topics.json");
        const bool javaWasHere = store_.files().exists(store_.root() + "/abort.bak");
        for (const auto& [id, count] : withoutQueue_) {
            const bool known = topics && topics->find('"' + id.first + '"') != std::string::npos;
            Line line = known && !javaWasHere ? problem("messages of the log have no consume queue")
                                              : note("messages of the log have no consume queue; their topic may have been deleted");
            line.add("topic", id.first).add("queue", std::int64_t{id.second}).add("count", count);
            if (Status put = say(std::move(line)); !put) return put;
        }
        return Status::ok();
    }

    /// Where the files of the index begin and end in the log; a message between two of them is in none.
    Status findIndexes() {
        if (Status opened = deleted_.open(store_.logMin()); !opened) return opened;
        Result<std::vector<std::string>> paths = store_.indexFiles();
        if (!paths) return paths.error();
        indexPaths_ = std::move(*paths);
        for (const std::string& path : indexPaths_) {
            const Result<std::unique_ptr<File>> file = store_.files().open(path, OpenMode::Read);
            if (!file) return file.error();
            std::array<char, kIndexHeaderBytes> header{};
            const Result<std::size_t> got = (*file)->readAt(header, 0);
            if (!got) return got.error();
            if (loadI32(header.data() + 36) > 1) indexed_.emplace_back(loadI64(header.data() + 16), loadI64(header.data() + 24));
        }
        return Status::ok();
    }

    void lookForGap(const protocol::RecordView& record) {
        while (nextIndexed_ < indexed_.size() && indexed_[nextIndexed_].second < record.physicalOffset) ++nextIndexed_;
        // Behind the last one a start goes on by itself.
        if (nextIndexed_ == indexed_.size() || record.physicalOffset >= indexed_[nextIndexed_].first) return;
        if (protocol::transactionType(record.sysFlag) == protocol::kSysFlagRollback) return;
        bool keyed = false;
        mmapstore::forEachIndexHash(record.topic, record.properties, [&](std::int32_t) { keyed = true; });
        if (keyed && notIndexed_++ == 0) firstNotIndexed_ = record.physicalOffset;
    }

    Status sayNotIndexed() {
        if (notIndexed_ == 0) return Status::ok();
        Line line = problem("messages with keys are not in the key index");
        line.add("count", notIndexed_).add("first", firstNotIndexed_);
        return say(std::move(line));
    }

    Status checkIndexes() {
        std::int64_t done = 0;
        for (const std::string& path : indexPaths_) {
            if (Status checked = checkIndex(path); !checked) return checked;
            if (Status go = progress("key index", ++done, static_cast<std::int64_t>(indexPaths_.size())); !go) return go;
        }
        return Status::ok();
    }

    Status checkIndex(const std::string& path) {
        const Result<std::unique_ptr<File>> file = store_.files().open(path, OpenMode::Read);
        if (!file) return file.error();
        const Result<std::uint64_t> size = (*file)->size();
        if (!size) return size.error();
        const std::int64_t wanted = mmapstore::IndexFile::Size{options_.indexSlots, options_.indexEntries}.bytes();
        if (static_cast<std::int64_t>(*size) != wanted) {
            Line line = note("an index file is not of the size that maxHashSlotNum and maxIndexNum make; it was not looked at");
            line.add("file", path).add("bytes", static_cast<std::int64_t>(*size)).add("wanted", wanted);
            return say(std::move(line));
        }
        std::array<char, kIndexHeaderBytes> header{};
        const Result<std::size_t> got = (*file)->readAt(header, 0);
        if (!got) return got.error();
        const std::int64_t count = loadI32(header.data() + 36);
        std::int64_t wrong = 0;
        std::int64_t first = -1;
        std::string entries;
        for (std::int64_t number = 1; number < std::min(count, options_.indexEntries); ++number) {
            const std::int64_t inPiece = (number - 1) % kEntriesAtOnce;
            if (inPiece == 0) {
                entries.assign(static_cast<std::size_t>(std::min(kEntriesAtOnce, count - number) * kIndexEntryBytes), '\0');
                const std::int64_t at = kIndexHeaderBytes + options_.indexSlots * 4 + number * kIndexEntryBytes;
                if (const auto read = (*file)->readAt(std::span(entries.data(), entries.size()), static_cast<std::uint64_t>(at)); !read) return read.error();
            }
            const Result<bool> good = isEntry(entries.data() + inPiece * kIndexEntryBytes, number);
            if (!good) return good.error();
            ++report_.indexEntries;
            if (*good) continue;
            ++wrong;
            if (first < 0) first = number;
        }
        if (wrong == 0) return Status::ok();
        Line line = problem("entries of the key index do not fit the log");
        line.add("file", path).add("count", wrong).add("first", first);
        return say(std::move(line));
    }

    /// Whether a message with such a key lies where the entry says, if the log reaches so far back.
    Result<bool> isEntry(const char* entry, std::int64_t number) {
        const std::int64_t position = loadI64(entry + 4);
        if (loadI32(entry + 16) >= number) return false;
        if (position < store_.logMin()) return true;
        if (position >= report_.end) return false;
        if (position != lastPosition_) {
            lastPosition_ = position;
            lastHashes_.clear();
            Result<std::string> head = log_.read(position, 4);
            if (!head) return head.error();
            const std::int64_t size = head->size() == 4 ? loadI32(head->data()) : 0;
            if (size <= 0 || size > kRecordBytesMax) return false;
            const Result<std::string> bytes = log_.read(position, size);
            if (!bytes) return bytes.error();
            protocol::RecordView record;
            if (protocol::RecordView::parse(*bytes, record, protocol::RecordCheck::Layout) == protocol::RecordStatus::Message) {
                mmapstore::forEachIndexHash(record.topic, record.properties, [&](std::int32_t hash) { lastHashes_.push_back(hash); });
            }
        }
        return std::find(lastHashes_.begin(), lastHashes_.end(), loadI32(entry)) != lastHashes_.end();
    }

    static constexpr std::int64_t kEntriesAtOnce = 4096;

    const StoreFiles& store_;
    const StoreToolOptions& options_;
    const std::string_view kind_;
    const LineSink& out_;
    const ToolWatcher& watcher_;
    LogBytes log_;
    mmapstore::DeletedTopics deleted_;
    std::vector<QueueFolder> folders_;
    std::map<QueueId, std::unique_ptr<QueueCheck>> queues_;
    CheckReport report_;
    std::map<QueueId, std::int64_t> withoutQueue_;
    std::vector<std::string> indexPaths_;
    std::vector<std::pair<std::int64_t, std::int64_t>> indexed_;  // from the first to the last position that an index file has
    std::size_t nextIndexed_ = 0;
    std::int64_t notIndexed_ = 0;
    std::int64_t firstNotIndexed_ = -1;
    std::int64_t lastPosition_ = -1;
    std::vector<std::int32_t> lastHashes_;
};

}  // namespace

Result<CheckReport> compare(const StoreFiles& store, const StoreToolOptions& options, std::string_view kind, const LineSink& out,
                            const ToolWatcher& watcher) {
    return Checker(store, options, kind, out, watcher).run();
}

}  // namespace patchbay::storetool
