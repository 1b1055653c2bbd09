// What SQLite itself does on this machine, in groups of 256 on one thread: rows of 1 KB into a table with one index, or (store) rows, indexes
// and pages as storage-sqlite has them. Prints rows a second.
// usage: bare_insert DIRECTORY async|sync SECONDS [store]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sqlite3.h>
#include <string>

namespace {

constexpr const char* kBare = "CREATE TABLE message (physical INTEGER PRIMARY KEY, queue INTEGER, place INTEGER, body BLOB); CREATE INDEX places ON message (queue, place)";
constexpr const char* kStore =
    "CREATE TABLE message (physical INTEGER PRIMARY KEY, queue INTEGER, place INTEGER, time INTEGER, code INTEGER, bytes INTEGER, born INTEGER, a INTEGER,"
    " b INTEGER, c INTEGER, d INTEGER, host TEXT, store TEXT, tags TEXT, keys TEXT, properties TEXT, body BLOB, stamp INTEGER, crc INTEGER);"
    "CREATE INDEX places ON message (queue, place, time);"
    "CREATE TABLE message_key (key TEXT, physical INTEGER, kind INTEGER, PRIMARY KEY (key, physical, kind)) WITHOUT ROWID";

sqlite3* database = nullptr;

void run(const std::string& sql) {
    if (sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK) return;
    std::fprintf(stderr, "bare_insert: %s\n", sqlite3_errmsg(database));
    std::exit(1);
}
sqlite3_stmt* prepare(const char* sql) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(database, sql, -1, &statement, nullptr) != SQLITE_OK) std::exit(1);
    return statement;
}
void step(sqlite3_stmt* statement) {
    if (sqlite3_step(statement) != SQLITE_DONE) std::exit(1);
    sqlite3_reset(statement);
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 4 && count != 5) return 64;
    const bool sync = std::strcmp(arguments[2], "sync") == 0;
    const std::chrono::seconds length(std::atoi(arguments[3]));
    const bool store = count == 5;
    if (sqlite3_open((std::string(arguments[1]) + "/bare.db").c_str(), &database) != SQLITE_OK) return 1;
    if (store) run("PRAGMA page_size = 8192; PRAGMA auto_vacuum = INCREMENTAL");
    run("PRAGMA journal_mode = WAL; PRAGMA cache_size = -4096; PRAGMA wal_autocheckpoint = " + std::string(store ? "1024" : "2048"));
    run("PRAGMA synchronous = " + std::string(sync ? "2" : "1"));
    run(store ? kStore : kBare);
    sqlite3_stmt* insert = prepare(store ? "INSERT INTO message VALUES (?1, ?2, ?3, ?5, 2598919, 1240, ?5, 0, 0, 0, 0, '127.0.0.1:43210', '', 'TagA', NULL, ?6, ?4, 1, 1234567890)"
                                         : "INSERT INTO message VALUES (?1, ?2, ?3, ?4)");
    sqlite3_stmt* addKey = store ? prepare("INSERT OR IGNORE INTO message_key VALUES (?1, ?2, 1)") : nullptr;
    const std::string body(1'024, 'b');
    const auto start = std::chrono::steady_clock::now();
    sqlite3_int64 rows = 0;
    while (std::chrono::steady_clock::now() - start < length) {
        run("BEGIN");
        for (int i = 0; i < 256; ++i, ++rows) {
            char key[33];
            std::snprintf(key, sizeof key, "7F00000100000000%016llX", static_cast<unsigned long long>(rows));
            const std::string properties = "UNIQ_KEY\x01" + std::string(key) + "\x02WAIT\x01true\x02TAGS\x01TagA\x02";
            sqlite3_bind_int64(insert, 1, rows * 1'240);
            sqlite3_bind_int64(insert, 2, rows % 8);
            sqlite3_bind_int64(insert, 3, rows / 8);
            sqlite3_bind_blob(insert, 4, body.data(), static_cast<int>(body.size()), SQLITE_STATIC);
            if (store) {
                sqlite3_bind_int64(insert, 5, 1'796'000'000'000 + rows / 50);
                sqlite3_bind_text(insert, 6, properties.data(), static_cast<int>(properties.size()), SQLITE_STATIC);
                sqlite3_bind_text(addKey, 1, key, 32, SQLITE_STATIC);
                sqlite3_bind_int64(addKey, 2, rows * 1'240);
                step(addKey);
            }
            step(insert);
        }
        run("COMMIT");
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    std::printf("%.0f\n", static_cast<double>(rows) / took.count());
    sqlite3_finalize(insert);
    sqlite3_finalize(addKey);
    sqlite3_close(database);
    return 0;
}
