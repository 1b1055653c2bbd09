#include "MessageTables.h"

#include "Schema.h"

#include <algorithm>
#include <string>
#include <utility>

namespace patchbay::plugins::sqlite {

namespace {

constexpr std::int64_t kRowsRemovedAtOnce = 500;
constexpr std::int64_t kBytesReturnedAtOnce = 1 << 20;
constexpr std::int64_t kLogBytesKept = 2;  // times sqliteWalBytes: what a log usually has at most, because to cut and extend it costs

std::string pragma(std::string_view name, std::int64_t value) {
    return "PRAGMA " + std::string(name) + " = " + std::to_string(value) + ";";
}

int rememberPages(void* to, sqlite3*, const char*, int pages) {
    *static_cast<int*>(to) = pages;
    return SQLITE_OK;
}

}  // namespace

Result<MessageTables> MessageTables::open(const std::string& path, const StoreSettings& settings) {
    MessageTables tables;
    tables.bundling_ = std::make_unique<LogBundling>();
    auto database = Database::open(path, settings.busyTimeout, tables.bundling_->name());
    if (!database) return database.error();
    tables.database_ = std::move(*database);
    if (tables.database_.isReadOnly()) {
        return Status(StatusCode::Denied, path + " can only be read; give the broker's user the right to write it and its directory");
    }
    if (Status status = prepareSchema(tables.database_, settings.pageBytes); !status) return status;
    auto mode = tables.database_.text("PRAGMA journal_mode = WAL");
    if (!mode) return mode.error();
    if (*mode != "wal") return Status(StatusCode::Unsupported, "the file system of " + path + " does not support a write-ahead log");
    if (settings.checkIntegrity) {
        const auto check = tables.database_.text("PRAGMA quick_check(1)");
        if (!check) return check.error();
        if (*check != "ok") return Status(StatusCode::Corrupt, path + " is damaged: " + *check + "; restore a backup or recover it with the sqlite3 tool");
    }
    const auto cacheKib = static_cast<std::int64_t>(settings.pageCacheBytes / 1024);
    // FULL waits for the disk at each commit. NORMAL waits only when the log is copied back: a killed process loses nothing,
    // a power cut the newest commits.
    const Status status = tables.database_.execute(
        pragma("synchronous", settings.syncFlush ? 2 : 1) + pragma("cache_size", -cacheKib) +
        pragma("journal_size_limit", kLogBytesKept * static_cast<std::int64_t>(settings.walBytesMax)) + pragma("temp_store", 2));
    if (!status) return status;
    tables.busyTimeout_ = settings.busyTimeout;
    tables.waiting_ = settings.syncFlush;
    // Also ends SQLite's own checkpoints, which would be made inside a commit, before the answers.
    tables.walPages_ = std::make_unique<int>(0);
    sqlite3_wal_hook(tables.database_.handle(), rememberPages, tables.walPages_.get());
    const auto pageBytes = tables.database_.integer("PRAGMA page_size");
    if (!pageBytes) return pageBytes.error();
    tables.pageBytes_ = *pageBytes;
    if (Status prepared = tables.prepareAll(); !prepared) return prepared;
    if (Status loaded = tables.loadStamps(); !loaded) return loaded;
    if (Status said = tables.sayLogLimit(settings.walBytesLimit); !said) return said;
    return tables;
}

// Whoever reads for long, as a backup does, can look at it and end before messages are refused.
Status MessageTables::sayLogLimit(std::int64_t bytes) {
    const auto said = database_.integer("SELECT value FROM meta WHERE name = 'wal_bytes_limit'");
    if (!said) return said.error();
    if (*said == bytes) return Status::ok();
    const Status kept = database_.execute("INSERT OR REPLACE INTO meta VALUES ('wal_bytes_limit', " + std::to_string(bytes) + ")");
    // A full disk may be why somebody changed the key.
    return kept.code() == StatusCode::Full ? Status::ok() : kept;
}

Status MessageTables::prepareAll() {
    const std::pair<Statement*, std::string_view> all[] = {
        {&insertMessage_,
         "INSERT INTO message (physical_offset, queue_ref, queue_offset, store_time, tags_code, record_bytes, born_time, flag, sys_flag, "
         "reconsume_times, prepared_offset, born_host, store_host, tags, keys, properties, body, stamp, body_crc) "
         "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)"},
        {&insertKey_, "INSERT OR IGNORE INTO message_key (key, physical_offset, unique_key) VALUES (?1, ?2, ?3)"},
        {&insertStamp_, "INSERT INTO stamp (store_host, properties) VALUES (?1, ?2)"},
        {&insertQueue_, "INSERT INTO queue (topic, queue_id) VALUES (?1, ?2)"},
        {&dropQueues_, "INSERT INTO dropped SELECT id FROM queue WHERE topic = ?1"},
        {&deleteQueues_, "DELETE FROM queue WHERE topic = ?1"},
        {&physicalFrom_, "SELECT queue_offset, physical_offset FROM message WHERE queue_ref = ?1 AND queue_offset >= ?2 ORDER BY queue_offset LIMIT 1"},
        {&setQueue_, "UPDATE queue SET min_offset = ?2, next_offset = ?3 WHERE id = ?1"},
        {&setMeta_, "UPDATE meta SET value = ?2 WHERE name = ?1"},
        {&trimmedRows_, "SELECT physical_offset, properties FROM message WHERE physical_offset < ?1 ORDER BY physical_offset LIMIT ?2"},
        {&droppedRows_, "SELECT physical_offset, properties FROM message WHERE queue_ref = ?1 LIMIT ?2"},
        {&droppedQueue_, "SELECT queue_ref FROM dropped LIMIT 1"},
        {&forgetDropped_, "DELETE FROM dropped WHERE queue_ref = ?1"},
        {&deleteMessage_, "DELETE FROM message WHERE physical_offset = ?1"},
        {&deleteKey_, "DELETE FROM message_key WHERE key = ?1 AND physical_offset = ?2"},
    };
    for (const auto& [statement, sql] : all) {
        auto prepared = database_.prepare(sql);
        if (!prepared) return prepared.error();
        *statement = std::move(*prepared);
    }
    return Status::ok();
}

Status MessageTables::loadStamps() {
    auto rows = database_.prepare("SELECT id, store_host, properties FROM stamp ORDER BY id");
    if (!rows) return rows.error();
    int code = SQLITE_ROW;
    while ((code = rows->step()) == SQLITE_ROW) stamps_.add(rows->integer(0), rows->bytes(1), rows->bytes(2));
    return code == SQLITE_DONE ? Status::ok() : database_.failure("read");
}

Result<LoadedState> MessageTables::load() {
    LoadedState state;
    auto queues = database_.prepare("SELECT id, topic, queue_id, min_offset, next_offset, "
                                    "(SELECT max(queue_offset) + 1 FROM message WHERE queue_ref = queue.id) FROM queue");
    if (!queues) return queues.error();
    int code = SQLITE_ROW;
    while ((code = queues->step()) == SQLITE_ROW) {
        const std::int64_t next = std::max(queues->integer(4), queues->integer(5));
        state.queues.push_back(Ref<QueueState>::adopt(new QueueState(queues->integer(0), std::string(queues->bytes(1)),
                                                                     static_cast<std::int32_t>(queues->integer(2)), queues->integer(3), next)));
    }
    if (code != SQLITE_DONE) return database_.failure("read the queues of");

    const auto min = database_.integer("SELECT value FROM meta WHERE name = 'min_physical'");
    const auto floor = database_.integer("SELECT value FROM meta WHERE name = 'next_physical'");
    const auto end = database_.integer("SELECT physical_offset + record_bytes FROM message ORDER BY physical_offset DESC LIMIT 1");
    const auto newest = database_.integer("SELECT store_time FROM message ORDER BY physical_offset DESC LIMIT 1");
    const auto dropped = database_.integer("SELECT count(*) FROM dropped");
    const auto first = database_.integer("SELECT physical_offset FROM message ORDER BY physical_offset LIMIT 1");
    for (const auto* value : {&min, &floor, &end, &newest, &dropped, &first}) {
        if (!*value) return value->error();
    }
    state.minPhysical = *min;
    state.nextPhysical = std::max(*floor, *end);
    state.newestStoreTime = *newest;
    state.removalsPending = *dropped > 0 || *first < *min;
    return state;
}

Status MessageTables::begin() {
    ++transactions_;
    stampsBefore_ = stamps_.size();
    begun_ = true;
    return database_.execute("BEGIN IMMEDIATE");
}

Status MessageTables::commit() {
    Status done = database_.execute("COMMIT");
    if (done) begun_ = false;
    return done;
}

void MessageTables::rollback() noexcept {
    if (!std::exchange(begun_, false)) return;
    stamps_.keep(stampsBefore_);
    if (database_.inTransaction()) static_cast<void>(database_.execute("ROLLBACK"));
}

Result<std::int64_t> MessageTables::addQueue(std::string_view topic, std::int32_t queueId) {
    const StatementUse use(insertQueue_);
    insertQueue_.bindText(1, topic).bind(2, queueId);
    if (insertQueue_.step() != SQLITE_DONE) return database_.failure("add a queue to");
    return database_.lastRowId();
}

Result<const Stamp*> MessageTables::stampFor(const service::AppendItem& item, std::string_view properties) {
    const std::string& storeHost = storeHost_.of(item.storeHost);
    const Stamp* known = stamps_.find(storeHost, properties);
    if (known != nullptr || !stamps_.isWorth(storeHost, item.brokerProperties, transactions_)) return known;
    // Keys are found again in the row when it is removed.
    const auto indexed = IndexedProperties::of(item.brokerProperties);
    if (!indexed.uniqueKey.empty() || !indexed.keys.empty()) return known;
    const StatementUse use(insertStamp_);
    if (insertStamp_.bindText(1, storeHost).bindText(2, item.brokerProperties).step() != SQLITE_DONE) return database_.failure("write to");
    return &stamps_.add(database_.lastRowId(), storeHost, item.brokerProperties);
}

Status MessageTables::insert(const service::AppendItem& item, std::int64_t queueRef, std::string_view properties, std::int32_t bodyCrc) {
    const auto indexed = IndexedProperties::of(properties);
    const auto found = stampFor(item, properties);
    if (!found) return found.error();
    const Stamp* const stamp = *found;
    {
        const StatementUse use(insertMessage_);
        insertMessage_.bind(1, item.physicalOffset).bind(2, queueRef);
        insertMessage_.bind(3, service::isQueued(item.sysFlag) ? item.queueOffset : kUnqueued).bind(4, item.storeTimestamp);
        insertMessage_.bind(5, item.tagsCode).bind(6, item.recordBytes).bind(7, item.bornTimestamp).bind(8, item.flag);
        insertMessage_.bind(9, protocol::sysFlagWithHosts(item.sysFlag, item.bornHost.isV6(), item.storeHost.isV6())).bind(10, item.reconsumeTimes).bind(11, item.preparedTransactionOffset);
        insertMessage_.bindText(12, bornHost_.of(item.bornHost));
        insertMessage_.bindTextOrNull(14, indexed.tags).bindTextOrNull(15, indexed.keys).bindBlob(17, item.body).bind(19, bodyCrc);
        if (stamp != nullptr) {
            insertMessage_.bindText(13, "").bindText(16, properties.substr(0, properties.size() - stamp->properties.size())).bind(18, stamp->id);
        } else {
            insertMessage_.bindText(13, storeHost_.of(item.storeHost)).bindText(16, properties).bindNull(18);
        }
        if (insertMessage_.step() != SQLITE_DONE) return database_.failure("write to");
    }
    if (protocol::transactionType(item.sysFlag) == protocol::kSysFlagRollback) return Status::ok();
    return insertKeys(item, indexed);
}

Status MessageTables::insertKeys(const service::AppendItem& item, const IndexedProperties& indexed) {
    bool ok = true;
    const auto add = [&](std::string_view key, bool unique) {
        const StatementUse use(insertKey_);
        insertKey_.bindText(1, key).bind(2, item.physicalOffset).bind(3, unique ? 1 : 0);
        ok = ok && insertKey_.step() == SQLITE_DONE;
    };
    if (!indexed.uniqueKey.empty()) add(indexed.uniqueKey, true);
    forEachKey(indexed, [&](std::string_view key) { add(key, false); });
    return ok ? Status::ok() : database_.failure("write a key to");
}

Status MessageTables::dropTopic(std::string_view topic) {
    for (Statement* statement : {&dropQueues_, &deleteQueues_}) {
        const StatementUse use(*statement);
        if (statement->bindText(1, topic).step() != SQLITE_DONE) return database_.failure("delete a topic from");
    }
    return Status::ok();
}

Result<std::int64_t> MessageTables::firstAtOrAfter(const QueueState& queue, std::int64_t physicalOffset) {
    std::int64_t low = queue.min;
    std::int64_t high = queue.next;
    // Of many queues most are not touched: their first message says so.
    for (std::int64_t middle = low; low < high; middle = low + (high - low) / 2) {
        const StatementUse use(physicalFrom_);
        const int code = physicalFrom_.bind(1, queue.id).bind(2, middle).step();
        if (code != SQLITE_ROW && code != SQLITE_DONE) return database_.failure("read");
        // Where rows are missing the next one decides.
        if (code == SQLITE_ROW && physicalFrom_.integer(1) < physicalOffset) {
            low = physicalFrom_.integer(0) + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

Status MessageTables::setQueueOffsets(std::int64_t queueRef, std::int64_t min, std::int64_t next) {
    const StatementUse use(setQueue_);
    if (setQueue_.bind(1, queueRef).bind(2, min).bind(3, next).step() != SQLITE_DONE) return database_.failure("trim");
    return Status::ok();
}

Status MessageTables::setTrimmed(std::int64_t minPhysical, std::int64_t nextPhysical) {
    const std::pair<std::string_view, std::int64_t> values[] = {{"min_physical", minPhysical}, {"next_physical", nextPhysical}};
    for (const auto& [name, value] : values) {
        const StatementUse use(setMeta_);
        if (setMeta_.bindText(1, name).bind(2, value).step() != SQLITE_DONE) return database_.failure("trim");
    }
    return Status::ok();
}

// Rows are read first and deleted afterwards: a tree is not changed under a cursor that walks over it.
Result<std::int64_t> MessageTables::removeRows(Statement& select, std::int64_t key) {
    std::vector<std::pair<std::int64_t, std::string>> rows;
    {
        const StatementUse use(select);
        select.bind(1, key).bind(2, kRowsRemovedAtOnce);
        int code = SQLITE_ROW;
        while ((code = select.step()) == SQLITE_ROW) rows.emplace_back(select.integer(0), select.bytes(1));
        if (code != SQLITE_DONE) return database_.failure("read");
    }
    for (const auto& [physical, properties] : rows) {
        bool ok = true;
        const auto forget = [&, at = physical](std::string_view word) {
            const StatementUse use(deleteKey_);
            ok = ok && deleteKey_.bindText(1, word).bind(2, at).step() == SQLITE_DONE;
        };
        const auto indexed = IndexedProperties::of(properties);
        if (!indexed.uniqueKey.empty()) forget(indexed.uniqueKey);
        forEachKey(indexed, forget);
        const StatementUse use(deleteMessage_);
        ok = ok && deleteMessage_.bind(1, physical).step() == SQLITE_DONE;
        if (!ok) return database_.failure("remove messages from");
    }
    return static_cast<std::int64_t>(rows.size());
}

Result<bool> MessageTables::removeSome(std::int64_t minPhysical) {
    if (Status status = begin(); !status) return status;
    auto removed = removeRows(trimmedRows_, minPhysical);
    bool more = removed && *removed == kRowsRemovedAtOnce;
    if (removed && !more) {
        std::int64_t queueRef = 0;
        {
            const StatementUse use(droppedQueue_);
            if (droppedQueue_.step() == SQLITE_ROW) queueRef = droppedQueue_.integer(0);
        }
        if (queueRef != 0) {
            more = true;
            removed = removeRows(droppedRows_, queueRef);
            if (removed && *removed < kRowsRemovedAtOnce) {
                const StatementUse use(forgetDropped_);
                if (forgetDropped_.bind(1, queueRef).step() != SQLITE_DONE) removed = database_.failure("remove messages from");
            }
        }
    }
    if (!removed) {
        rollback();
        return removed.error();
    }
    if (Status status = commit(); !status) {
        rollback();
        return status;
    }
    return more;
}

Result<bool> MessageTables::shrinkSome() {
    const auto unused = database_.integer("PRAGMA freelist_count");
    const auto pages = database_.integer("PRAGMA page_count");
    if (!unused) return unused.error();
    if (!pages) return pages.error();
    // Some unused pages are kept, because new messages will want them.
    const std::int64_t atOnce = kBytesReturnedAtOnce / pageBytes_;
    if (*unused * 4 < *pages || *unused < atOnce) return false;
    if (Status status = database_.execute("PRAGMA incremental_vacuum(" + std::to_string(atOnce) + ")"); !status) return status;
    return true;
}

Status MessageTables::setWaiting(bool waits) {
    if (waits == waiting_) return Status::ok();
    Status status = database_.execute(waits ? "PRAGMA synchronous = 2" : "PRAGMA synchronous = 1");
    if (status) waiting_ = waits;
    return status;
}

Status MessageTables::flush() {
    const bool before = waiting_;
    // Such a commit waits until the whole write-ahead log is on the disk, with all commits before it.
    if (Status status = setWaiting(true); !status) return status;
    const Status flushed = database_.execute("UPDATE meta SET value = value + 1 WHERE name = 'flushes'");
    const Status restored = setWaiting(before);
    return flushed ? restored : flushed;
}

std::int64_t MessageTables::walBytes() const noexcept { return std::int64_t{*walPages_} * pageBytes_; }

Status MessageTables::checkpoint() {
    const int code = sqlite3_wal_checkpoint_v2(database_.handle(), nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
    // Busy: somebody else is at it.
    return code == SQLITE_OK || (code & 0xff) == SQLITE_BUSY ? Status::ok() : database_.failure("copy the write-ahead log into");
}

Status MessageTables::emptyLog() {
    sqlite3_busy_timeout(database_.handle(), 0);
    const int code = sqlite3_wal_checkpoint_v2(database_.handle(), nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
    const Status status = code == SQLITE_OK ? Status::ok() : database_.failure("empty the write-ahead log of");
    sqlite3_busy_timeout(database_.handle(), static_cast<int>(busyTimeout_.count()));
    if (status) *walPages_ = 0;
    return status;
}

Status MessageTables::replaceOffsets(const ConfigSnapshot& snapshot) {
    if (snapshot.allOffsets) {
        if (Status status = database_.execute("DELETE FROM consumer_offset"); !status) return status;
    }
    auto remove = database_.prepare("DELETE FROM consumer_offset WHERE group_name = ?1 AND topic = ?2");
    if (!remove) return remove.error();
    for (const auto& [group, topic] : snapshot.goneOffsets) {
        const StatementUse use(*remove);
        if (remove->bindText(1, group).bindText(2, topic).step() != SQLITE_DONE) return database_.failure("write to");
    }
    auto insert = database_.prepare("INSERT OR REPLACE INTO consumer_offset VALUES (?1, ?2, ?3, ?4)");
    if (!insert) return insert.error();
    for (const auto& offset : snapshot.offsets) {
        const StatementUse use(*insert);
        insert->bindText(1, offset.group).bindText(2, offset.topic).bind(3, offset.queueId).bind(4, offset.next);
        if (insert->step() != SQLITE_DONE) return database_.failure("write to");
    }
    return Status::ok();
}

Status MessageTables::forgetFiles(const std::vector<std::string>& names) {
    auto remove = database_.prepare("DELETE FROM config_file WHERE name = ?1");
    if (!remove) return remove.error();
    for (const auto& name : names) {
        const StatementUse use(*remove);
        if (remove->bindText(1, name).step() != SQLITE_DONE) return database_.failure("write to");
    }
    return Status::ok();
}

Status MessageTables::keepFile(const std::string& name, const std::string& text, std::int64_t savedMs) {
    auto replace = database_.prepare("INSERT OR REPLACE INTO config_file VALUES (?1, ?2, ?3)");
    if (!replace) return replace.error();
    return replace->bindText(1, name).bind(2, savedMs).bindText(3, text).step() == SQLITE_DONE ? Status::ok() : database_.failure("write to");
}

Status MessageTables::keepConfig(const ConfigSnapshot& snapshot) {
    Status status = begin();
    if (status) status = replaceOffsets(snapshot);
    if (status) status = forgetFiles(snapshot.goneFiles);
    if (status) status = commit();
    if (!status) rollback();
    return status;
}

}  // namespace patchbay::plugins::sqlite
