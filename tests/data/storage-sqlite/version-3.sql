-- A database of schema version 3, as the sqlite3 tool dumps it.
PRAGMA auto_vacuum = INCREMENTAL;
PRAGMA application_id = 1346523988;
PRAGMA user_version = 3;
BEGIN TRANSACTION;
CREATE TABLE config_file (
    name       TEXT PRIMARY KEY,
    saved_time INTEGER NOT NULL,
    text       TEXT NOT NULL
);
INSERT INTO config_file VALUES('topics.json',1700000000000,'{}');
CREATE TABLE consumer_offset (
    group_name  TEXT NOT NULL,
    topic       TEXT NOT NULL,
    queue_id    INTEGER NOT NULL,
    next_offset INTEGER NOT NULL,
    PRIMARY KEY (group_name, topic, queue_id)
) WITHOUT ROWID;
INSERT INTO consumer_offset VALUES('readers','orders',0,1);
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
, stamp INTEGER);
INSERT INTO message VALUES(0,1,0,1700000000000,3433164,122,1700000000000,0,0,0,0,'10.0.0.7:4711','10.0.0.1:10911','paid','k1','KEYS'||char(1)||'k1'||char(2)||'TAGS'||char(1)||'paid'||char(2)||'',X'6F6E65',NULL);
INSERT INTO message VALUES(122,2,1,1700000000122,3433164,122,1700000000000,0,0,0,0,'10.0.0.7:4711','10.0.0.1:10911','paid','k2','KEYS'||char(1)||'k2'||char(2)||'TAGS'||char(1)||'paid'||char(2)||'',X'74776F',NULL);
INSERT INTO message VALUES(244,1,1,1700000000244,3433164,150,1700000000000,0,0,0,0,'10.0.0.7:4711','','paid','k1 k3','KEYS'||char(1)||'k1 k3'||char(2)||'TAGS'||char(1)||'paid'||char(2)||'',X'7468726565',1);
CREATE TABLE message_key (
    key             TEXT NOT NULL,
    physical_offset INTEGER NOT NULL,
    unique_key      INTEGER NOT NULL,
    PRIMARY KEY (key, physical_offset, unique_key)
) WITHOUT ROWID;
INSERT INTO message_key VALUES('k1',0,0);
INSERT INTO message_key VALUES('k1',244,0);
INSERT INTO message_key VALUES('k2',122,0);
INSERT INTO message_key VALUES('k3',244,0);
CREATE TABLE meta (
    name  TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO meta VALUES('flushes',0);
INSERT INTO meta VALUES('min_physical',0);
INSERT INTO meta VALUES('next_physical',0);
CREATE TABLE queue (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    topic       TEXT NOT NULL,
    queue_id    INTEGER NOT NULL,
    min_offset  INTEGER NOT NULL DEFAULT 0,
    next_offset INTEGER NOT NULL DEFAULT 0,
    UNIQUE (topic, queue_id)
);
INSERT INTO queue VALUES(1,'orders',0,0,0);
INSERT INTO queue VALUES(2,'orders',1,1,2);
CREATE TABLE stamp (
    id         INTEGER PRIMARY KEY,
    store_host TEXT NOT NULL,
    properties TEXT NOT NULL
);
INSERT INTO stamp VALUES(1,'10.0.0.1:10911','CLUSTER'||char(1)||'DefaultCluster'||char(2)||'');
CREATE INDEX message_queue ON message (queue_ref, queue_offset, store_time);
CREATE VIEW queues AS
SELECT q.topic, q.queue_id, q.min_offset,
       max(q.next_offset, coalesce((SELECT max(queue_offset) + 1 FROM message WHERE queue_ref = q.id), 0)) AS max_offset
FROM queue AS q;
CREATE VIEW backlog AS
SELECT c.group_name, c.topic, c.queue_id, c.next_offset, q.min_offset, q.max_offset,
       max(q.max_offset - max(c.next_offset, q.min_offset), 0) AS messages
FROM consumer_offset AS c JOIN queues AS q ON q.topic = c.topic AND q.queue_id = c.queue_id;
CREATE VIEW message_keys AS SELECT key, physical_offset, unique_key FROM message_key;
CREATE VIEW config_files AS
SELECT name, saved_time, strftime('%Y-%m-%d %H:%M:%f', saved_time / 1000.0, 'unixepoch') AS saved_time_utc, text
FROM config_file;
CREATE VIEW messages AS
SELECT q.topic, q.queue_id, m.queue_offset, m.store_time, m.tags, m.keys, m.body, m.physical_offset, m.born_time,
       strftime('%Y-%m-%d %H:%M:%f', m.store_time / 1000.0, 'unixepoch') AS store_time_utc,
       strftime('%Y-%m-%d %H:%M:%f', m.born_time / 1000.0, 'unixepoch') AS born_time_utc,
       CASE WHEN m.properties || coalesce(s.properties, '') = '' THEN '{}' ELSE '{"' ||
           replace(replace(replace(replace(rtrim(m.properties || coalesce(s.properties, ''), char(2)), '\', '\\'), '"', '\"'),
                   char(2), '","'), char(1), '":"') || '"}' END AS properties,
       m.born_host, coalesce(s.store_host, m.store_host) AS store_host, m.reconsume_times, m.flag, m.sys_flag, m.record_bytes
FROM queue AS q JOIN message AS m ON m.queue_ref = q.id AND m.queue_offset >= q.min_offset LEFT JOIN stamp AS s ON s.id = m.stamp;
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('queue',2);
COMMIT;
