#include "Readers.h"

#include "MessageRow.h"

#include <algorithm>

namespace patchbay::plugins::sqlite {

namespace {

/// Of messages without a place in their queue, whether they were trimmed; for all others their queue knows.
constexpr const char* kIsThere = "(m.queue_offset >= q.min_offset OR (m.queue_offset < 0 AND "
                                 "m.physical_offset >= (SELECT value FROM meta WHERE name = 'min_physical')))";

std::string columns(std::string_view rest) { return "SELECT " + std::string(kRowColumns) + std::string(rest); }

/// Of a row whose two columns behind kRowColumns are topic and queue id.
std::string_view recordOf(const Statement& row, std::string& record) {
    return appendRecord(record, row, readRow(row, row.bytes(kRowColumnCount), static_cast<std::int32_t>(row.integer(kRowColumnCount + 1))));
}

}  // namespace

Result<std::unique_ptr<Reader>> Reader::open(const std::string& path, const StoreSettings& settings) {
    auto reader = std::make_unique<Reader>();
    auto database = Database::open(path, settings.busyTimeout);
    if (!database) return database.error();
    reader->database_ = std::move(*database);
    const auto cacheKib = std::to_string(settings.readerPageCacheBytes / 1024);
    if (Status status = reader->database_.execute("PRAGMA query_only = 1; PRAGMA cache_size = -" + cacheKib); !status) return status;
    if (Status status = reader->prepareAll(); !status) return status;
    return reader;
}

Status Reader::prepareAll() {
    const std::string stamp(kRowStamp);
    const std::pair<Statement*, std::string> all[] = {
        {&range_, columns(" FROM message AS m" + stamp + "WHERE m.queue_ref = ?1 AND m.queue_offset >= ?2 AND m.queue_offset < ?3 ORDER BY m.queue_offset")},
        {&time_, "SELECT queue_offset, store_time FROM message WHERE queue_ref = ?1 AND queue_offset >= ?2 ORDER BY queue_offset LIMIT 1"},
        {&at_, columns(", q.topic, q.queue_id FROM message AS m JOIN queue AS q ON q.id = m.queue_ref" + stamp +
                       "WHERE m.physical_offset = ?1 AND " + kIsThere)},
        {&byKey_, columns(", q.topic, q.queue_id FROM message_key AS k CROSS JOIN message AS m ON m.physical_offset = k.physical_offset "
                          "CROSS JOIN queue AS q ON q.id = m.queue_ref" + stamp + "WHERE k.key = ?1 AND k.unique_key >= ?2 AND q.topic = ?3 "
                          "AND m.store_time BETWEEN ?4 AND ?5 AND " + kIsThere + " ORDER BY k.physical_offset DESC LIMIT ?6")},
        {&oldest_, "SELECT m.store_time FROM message AS m WHERE m.physical_offset >= (SELECT value FROM meta WHERE name = 'min_physical') "
                   "AND EXISTS (SELECT 1 FROM queue AS q WHERE q.id = m.queue_ref) ORDER BY m.physical_offset LIMIT 1"},
        {&fromPhysical_, "SELECT physical_offset, store_time, record_bytes FROM message WHERE physical_offset >= ?1 ORDER BY physical_offset LIMIT 1"},
    };
    for (const auto& [statement, sql] : all) {
        auto prepared = database_.prepare(sql);
        if (!prepared) return prepared.error();
        *statement = std::move(*prepared);
    }
    return Status::ok();
}

Status Reader::readRange(std::int64_t queueRef, std::string_view topic, std::int32_t queueId, std::int64_t end,
                         const service::ReadLimits& limits, const service::ReadFilter* filter, service::ReadResult& result, PassedOver& passed) {
    const StatementUse use(range_);
    range_.bind(1, queueRef).bind(2, result.nextOffset).bind(3, end);
    std::string records;
    const auto reached = [&](std::int64_t offset) {
        if (offset > result.nextOffset && passed.missing == 0) passed.missingAt = result.nextOffset;
        passed.missing += offset - result.nextOffset;
        result.nextOffset = offset;
    };
    int code = SQLITE_ROW;
    while ((code = range_.step()) == SQLITE_ROW) {
        reached(range_.integer(1));
        const std::int64_t bytes = range_.integer(kRecordBytesColumn);
        const bool wanted = filter == nullptr || filter->matchesTags(range_.integer(kTagsCodeColumn));
        if (wanted) {
            // Fullness is judged by what is wanted, so that a filter's misses are skipped now instead of by the next read.
            const bool full = result.messages > 0 && (result.messages >= limits.messagesMax || result.bytes + bytes > limits.bytesMax);
            if (full) break;
            const auto fields = readRow(range_, topic, queueId);
            const std::size_t before = records.size();
            const auto damage = appendRecord(records, range_, fields);
            const std::string_view record(records.data() + before, records.size() - before);
            if (!damage.empty()) {
                ++passed.damaged;
                passed.damagedAt = result.nextOffset;
                passed.why = damage;
            } else if (filter != nullptr && filter->needsRecord() && !filter->matchesRecord(record)) {
                records.resize(before);
            } else {
                ++result.messages;
                result.bytes += static_cast<std::int64_t>(record.size());
            }
        }
        ++result.nextOffset;
    }
    if (code == SQLITE_DONE) reached(end);
    const Status status = code == SQLITE_ROW || code == SQLITE_DONE ? Status::ok() : database_.failure("read");
    if (!records.empty()) {  // what came before a damaged page is good
        Slice all = Slice::own(std::move(records));
        result.pieces.push_back(all.bytes);
        result.keep.push_back(std::move(all.keep));
    }
    return status;
}

Result<StoredAt> Reader::firstFrom(std::int64_t queueRef, std::int64_t offset) {
    const StatementUse use(time_);
    const int code = time_.bind(1, queueRef).bind(2, offset).step();
    if (code == SQLITE_ROW) return StoredAt{time_.integer(0), time_.integer(1)};
    if (code == SQLITE_DONE) return Status(StatusCode::NotFound, "no message from queue offset " + std::to_string(offset) + " on");
    return database_.failure("read");
}

Result<Slice> Reader::at(std::int64_t physicalOffset) {
    const StatementUse use(at_);
    const int code = at_.bind(1, physicalOffset).step();
    if (code == SQLITE_ROW) {
        std::string record;
        const auto damage = recordOf(at_, record);
        if (damage.empty()) return Slice::own(std::move(record));
        return Status(StatusCode::Corrupt, "the message at " + std::to_string(physicalOffset) + " is damaged: " + std::string(damage));
    }
    if (code == SQLITE_DONE) return Status(StatusCode::NotFound, "no message at " + std::to_string(physicalOffset));
    return database_.failure("read");
}

Result<std::vector<service::KeyHit>> Reader::findByKey(const service::KeyQuery& query, PassedOver& passed) {
    const StatementUse use(byKey_);
    byKey_.bindText(1, query.key).bind(2, query.uniqueKey ? 1 : 0).bindText(3, query.topic);
    byKey_.bind(4, query.beginMs).bind(5, query.endMs).bind(6, std::max(query.messagesMax, 0));
    std::vector<service::KeyHit> hits;
    int code = SQLITE_ROW;
    while ((code = byKey_.step()) == SQLITE_ROW) {
        std::string record;
        if (const auto damage = recordOf(byKey_, record); !damage.empty()) {
            ++passed.damaged;
            passed.damagedAt = byKey_.integer(0);
            passed.why = damage;
        } else {
            hits.push_back({byKey_.integer(0), Slice::own(std::move(record))});
        }
    }
    if (code != SQLITE_DONE) return database_.failure("search");
    return hits;
}

Result<std::int64_t> Reader::oldestTime() {
    const StatementUse use(oldest_);
    const int code = oldest_.step();
    if (code == SQLITE_ROW) return oldest_.integer(0);
    if (code == SQLITE_DONE) return -1;
    return database_.failure("read");
}

Result<std::int64_t> Reader::physicalByTime(std::int64_t begin, std::int64_t end, std::int64_t timeMs) {
    // Physical offsets have gaps: each probe looks at the next message behind it.
    while (begin < end) {
        const std::int64_t middle = begin + (end - begin) / 2;
        const StatementUse use(fromPhysical_);
        const int code = fromPhysical_.bind(1, middle).step();
        if (code != SQLITE_ROW && code != SQLITE_DONE) return database_.failure("read");
        if (code == SQLITE_DONE || fromPhysical_.integer(0) >= end || fromPhysical_.integer(1) >= timeMs) {
            end = middle;
        } else {
            begin = fromPhysical_.integer(0) + fromPhysical_.integer(2);
        }
    }
    return end;
}

Result<std::vector<std::string>> Reader::keptFiles() {
    auto rows = database_.prepare("SELECT name FROM config_file ORDER BY name");
    if (!rows) return rows.error();
    std::vector<std::string> names;
    int code = SQLITE_ROW;
    while ((code = rows->step()) == SQLITE_ROW) names.emplace_back(rows->bytes(0));
    if (code != SQLITE_DONE) return database_.failure("read");
    return names;
}

Result<std::string> Reader::keptFile(const std::string& name) {
    auto row = database_.prepare("SELECT text FROM config_file WHERE name = ?1");
    if (!row) return row.error();
    const int code = row->bindText(1, name).step();
    if (code == SQLITE_ROW) return std::string(row->bytes(0));
    return code == SQLITE_DONE ? Status(StatusCode::NotFound, "no copy of " + name) : database_.failure("read");
}

void Readers::open(std::string path) {
    const std::lock_guard lock(mutex_);
    path_ = std::move(path);
}

void Readers::close() {
    const std::lock_guard lock(mutex_);
    path_.clear();
    idle_.clear();
}

Result<std::unique_ptr<Reader>> Readers::take() {
    std::string path;
    {
        const std::lock_guard lock(mutex_);
        if (!idle_.empty()) {
            auto reader = std::move(idle_.back());
            idle_.pop_back();
            return reader;
        }
        path = path_;
    }
    if (path.empty()) return Status(StatusCode::Unavailable, "the store is stopped");
    return Reader::open(path, settings_);
}

void Readers::giveBack(std::unique_ptr<Reader> reader) {
    const std::lock_guard lock(mutex_);
    if (!path_.empty() && idle_.size() < kIdleMax) idle_.push_back(std::move(reader));
}

}  // namespace patchbay::plugins::sqlite
