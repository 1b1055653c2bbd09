#include "Schema.h"

namespace patchbay::plugins::sqlite {

namespace {

// message: one row a message; its key is the physical offset, so that rows are always added at the end of the tree.
// queue: what a topic's queues are called, and the offsets that stay true when messages are trimmed.
// dropped: queues of deleted topics whose messages are still to be removed, a part at a time.
constexpr const char* kVersion1Tables = R"(
CREATE TABLE meta (
    name  TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO meta VALUES ('min_physical', 0), ('next_physical', 0), ('flushes', 0);

CREATE TABLE queue (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    topic       TEXT NOT NULL,
    queue_id    INTEGER NOT NULL,
    min_offset  INTEGER NOT NULL DEFAULT 0,
    next_offset INTEGER NOT NULL DEFAULT 0,
    UNIQUE (topic, queue_id)
);
CREATE TABLE dropped (queue_ref INTEGER PRIMARY KEY);

CREATE TABLE message (
    physical_offset INTEGER PRIMARY KEY,
    queue_ref       INTEGER NOT NULL,
    queue_offset    INTEGER NOT NULL,
    store_time      INTEGER NOT NULL,
    tags_code       INTEGER NOT NULL,
    record_bytes    INTEGER NOT NULL,
    born_time       INTEGER NOT NULL,
    flag            INTEGER NOT NULL,
    sys_flag        INTEGER NOT NULL,
    reconsume_times INTEGER NOT NULL,
    prepared_offset INTEGER NOT NULL,
    born_host       TEXT NOT NULL,
    store_host      TEXT NOT NULL,
    tags            TEXT,
    keys            TEXT,
    properties      TEXT NOT NULL,
    body            BLOB NOT NULL
);
CREATE INDEX message_queue ON message (queue_ref, queue_offset, store_time);

CREATE TABLE message_key (
    key             TEXT NOT NULL,
    physical_offset INTEGER NOT NULL,
    unique_key      INTEGER NOT NULL,
    PRIMARY KEY (key, physical_offset, unique_key)
) WITHOUT ROWID;
)";

constexpr const char* kVersion1Views = R"(
CREATE VIEW messages AS
SELECT q.topic, q.queue_id, m.queue_offset, m.store_time, m.tags, m.keys, m.body, m.physical_offset, m.born_time,
       strftime('%Y-%m-%d %H:%M:%f', m.store_time / 1000.0, 'unixepoch') AS store_time_utc,
       strftime('%Y-%m-%d %H:%M:%f', m.born_time / 1000.0, 'unixepoch') AS born_time_utc,
       CASE WHEN m.properties = '' THEN '{}' ELSE '{"' ||
           replace(replace(replace(replace(rtrim(m.properties, char(2)), '\', '\\'), '"', '\"'),
                   char(2), '","'), char(1), '":"') || '"}' END AS properties,
       m.born_host, m.store_host, m.reconsume_times, m.flag, m.sys_flag, m.record_bytes
FROM queue AS q JOIN message AS m ON m.queue_ref = q.id AND m.queue_offset >= q.min_offset;

CREATE VIEW queues AS
SELECT q.topic, q.queue_id, q.min_offset,
       max(q.next_offset, coalesce((SELECT max(queue_offset) + 1 FROM message WHERE queue_ref = q.id), 0)) AS max_offset
FROM queue AS q;
)";

// consumer_offset: how far groups were when the broker last looked, so that people can ask for a backlog.
// config_file: texts of the files in config/ at that time, so that this one file is a backup of the whole broker.
constexpr const char* kVersion2 = R"(
CREATE TABLE consumer_offset (
    group_name  TEXT NOT NULL,
    topic       TEXT NOT NULL,
    queue_id    INTEGER NOT NULL,
    next_offset INTEGER NOT NULL,
    PRIMARY KEY (group_name, topic, queue_id)
) WITHOUT ROWID;
CREATE TABLE config_file (
    name       TEXT PRIMARY KEY,
    saved_time INTEGER NOT NULL,
    text       TEXT NOT NULL
);

CREATE VIEW backlog AS
SELECT c.group_name, c.topic, c.queue_id, c.next_offset, q.min_offset, q.max_offset,
       max(q.max_offset - max(c.next_offset, q.min_offset), 0) AS messages
FROM consumer_offset AS c JOIN queues AS q ON q.topic = c.topic AND q.queue_id = c.queue_id;

CREATE VIEW message_keys AS SELECT key, physical_offset, unique_key FROM message_key;

CREATE VIEW config_files AS
SELECT name, saved_time, strftime('%Y-%m-%d %H:%M:%f', saved_time / 1000.0, 'unixepoch') AS saved_time_utc, text
FROM config_file;
)";

// stamp: what a broker adds to nearly all of its messages alike, its address and the end of their properties; they refer to it instead
// of repeating it. A message without one has its own.
constexpr const char* kVersion3 = R"(
CREATE TABLE stamp (
    id         INTEGER PRIMARY KEY,
    store_host TEXT NOT NULL,
    properties TEXT NOT NULL
);
ALTER TABLE message ADD COLUMN stamp INTEGER;

DROP VIEW messages;
CREATE VIEW messages AS
SELECT q.topic, q.queue_id, m.queue_offset, m.store_time, m.tags, m.keys, m.body, m.physical_offset, m.born_time,
       strftime('%Y-%m-%d %H:%M:%f', m.store_time / 1000.0, 'unixepoch') AS store_time_utc,
       strftime('%Y-%m-%d %H:%M:%f', m.born_time / 1000.0, 'unixepoch') AS born_time_utc,
       CASE WHEN m.properties || coalesce(s.properties, '') = '' THEN '{}' ELSE '{"' ||
           replace(replace(replace(replace(rtrim(m.properties || coalesce(s.properties, ''), char(2)), '\', '\\'), '"', '\"'),
                   char(2), '","'), char(1), '":"') || '"}' END AS properties,
       m.born_host, coalesce(s.store_host, m.store_host) AS store_host, m.reconsume_times, m.flag, m.sys_flag, m.record_bytes
FROM queue AS q JOIN message AS m ON m.queue_ref = q.id AND m.queue_offset >= q.min_offset LEFT JOIN stamp AS s ON s.id = m.stamp;
)";

// body_crc: of the body, as in RocketMQ's records; NULL for messages that an older version stored.
// messages.properties: json_quote() does what JSON needs for every byte; separators and backslashes are taken out of its way before and
// put back afterwards as 1 and a letter, which nothing else becomes. What has not one name and one value between all separators is
// taken apart in order, and what is not a property of RocketMQ left out.
constexpr const char* kVersion4 = R"(
ALTER TABLE message ADD COLUMN body_crc INTEGER;

DROP VIEW messages;
CREATE VIEW messages AS
SELECT q.topic, q.queue_id, m.queue_offset, m.store_time, m.tags, m.keys, m.body, m.physical_offset, m.born_time,
       strftime('%Y-%m-%d %H:%M:%f', m.store_time / 1000.0, 'unixepoch') AS store_time_utc,
       strftime('%Y-%m-%d %H:%M:%f', m.born_time / 1000.0, 'unixepoch') AS born_time_utc,
       (SELECT CASE WHEN json_valid(plain) THEN plain ELSE (
            WITH RECURSIVE part(rest, one) AS (
                SELECT m.properties || coalesce(s.properties, '') || char(2), ''
                UNION ALL
                SELECT substr(rest, instr(rest, char(2)) + 1), substr(rest, 1, instr(rest, char(2)) - 1) FROM part WHERE rest <> '')
            SELECT json_group_object(substr(one, 1, instr(one, char(1)) - 1), substr(one, instr(one, char(1)) + 1))
            FROM part WHERE instr(one, char(1)) > 1) END
        FROM (SELECT '{' || replace(replace(replace(json_quote(replace(replace(replace(
                  rtrim(m.properties || coalesce(s.properties, ''), char(2)), char(1), char(1) || 's'), char(2), char(1) || 'e'), '\', char(1) || 'b')),
                  '\u0001s', '":"'), '\u0001e', '","'), '\u0001b', '\\') || '}' AS plain)) AS properties,
       m.born_host, coalesce(s.store_host, m.store_host) AS store_host, m.reconsume_times, m.flag, m.sys_flag, m.record_bytes
FROM queue AS q JOIN message AS m ON m.queue_ref = q.id AND m.queue_offset >= q.min_offset LEFT JOIN stamp AS s ON s.id = m.stamp;
)";

/// Takes a file of any older version to the current one; version 0 is a new file. A new file goes the same way as an old
/// one, so that every test walks it.
Status bringUpToDate(Database& database, std::int64_t version) {
    static constexpr const char* kSteps[kSchemaVersion][2] = {{kVersion1Tables, kVersion1Views}, {kVersion2, ""}, {kVersion3, ""}, {kVersion4, ""}};
    std::string sql = "BEGIN IMMEDIATE;";
    for (std::int64_t at = version; at < kSchemaVersion; ++at) {
        for (const char* part : kSteps[at]) sql += part;
    }
    sql += "PRAGMA application_id = " + std::to_string(kApplicationId) + "; PRAGMA user_version = " + std::to_string(kSchemaVersion) + "; COMMIT;";
    Status status = database.execute(sql);
    if (!status && database.inTransaction()) static_cast<void>(database.execute("ROLLBACK"));
    return status;
}

Status createSchema(Database& database, std::size_t pageBytes) {
    // Page size and auto_vacuum have to be chosen before the first page is written, and a write-ahead log makes the rest one fsync.
    const std::string pages = "PRAGMA page_size = " + std::to_string(pageBytes) + ";";
    if (Status status = database.execute(pages + "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL"); !status) return status;
    return bringUpToDate(database, 0);
}

}  // namespace

Status prepareSchema(Database& database, std::size_t pageBytes) {
    const auto tables = database.integer("SELECT count(*) FROM sqlite_master");
    if (!tables) return tables.error();
    if (*tables == 0) return createSchema(database, pageBytes);
    const auto application = database.integer("PRAGMA application_id");
    const auto version = database.integer("PRAGMA user_version");
    if (!application) return application.error();
    if (!version) return version.error();
    if (*application != kApplicationId) {
        return {StatusCode::InvalidArgument, database.path() + " is the database of another program; set storePathSqlite to a directory of its own"};
    }
    if (*version > kSchemaVersion) {
        return {StatusCode::Unsupported, database.path() + " has schema " + std::to_string(*version) + ", written by a newer version; this one knows " +
                                             std::to_string(kSchemaVersion) + ": start the newer version or restore a backup"};
    }
    return *version < kSchemaVersion ? bringUpToDate(database, *version) : Status::ok();
}

}  // namespace patchbay::plugins::sqlite
