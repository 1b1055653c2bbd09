// What SQLite itself does on this machine: rows of 1 KB into one indexed table, in groups of 256, as storage-sqlite's are. Prints rows a second.
// usage: bare_insert DIRECTORY async|sync SECONDS
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <sqlite3.h>
#include <string>

int main(int count, char** arguments) {
    if (count != 4) return 64;
    const std::string path = std::string(arguments[1]) + "/bare.db";
    const bool sync = std::string(arguments[2]) == "sync";
    const std::chrono::seconds length(std::atoi(arguments[3]));
    sqlite3* database = nullptr;
    const auto run = [&](const std::string& sql) {
        if (sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK) return;
        std::fprintf(stderr, "bare_insert: %s\n", sqlite3_errmsg(database));
        std::exit(1);
    };
    if (sqlite3_open(path.c_str(), &database) != SQLITE_OK) return 1;
    run("PRAGMA journal_mode = WAL; PRAGMA cache_size = -4096; PRAGMA wal_autocheckpoint = 2048; PRAGMA synchronous = " + std::string(sync ? "2" : "1"));
    run("CREATE TABLE message (physical INTEGER PRIMARY KEY, queue INTEGER, place INTEGER, body BLOB); CREATE INDEX places ON message (queue, place)");
    sqlite3_stmt* insert = nullptr;
    sqlite3_prepare_v2(database, "INSERT INTO message VALUES (?1, ?2, ?3, ?4)", -1, &insert, nullptr);
    const std::string body(1'024, 'b');
    const auto start = std::chrono::steady_clock::now();
    sqlite3_int64 rows = 0;
    while (std::chrono::steady_clock::now() - start < length) {
        run("BEGIN");
        for (int i = 0; i < 256; ++i, ++rows) {
            sqlite3_bind_int64(insert, 1, rows * 1'200);
            sqlite3_bind_int64(insert, 2, rows % 8);
            sqlite3_bind_int64(insert, 3, rows / 8);
            sqlite3_bind_blob(insert, 4, body.data(), static_cast<int>(body.size()), SQLITE_STATIC);
            if (sqlite3_step(insert) != SQLITE_DONE) return 1;
            sqlite3_reset(insert);
        }
        run("COMMIT");
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    std::printf("%.0f\n", static_cast<double>(rows) / took.count());
    sqlite3_finalize(insert);
    sqlite3_close(database);
    return 0;
}
