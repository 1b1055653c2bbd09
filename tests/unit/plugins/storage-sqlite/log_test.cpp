// Proved: transactions go to the write-ahead log whole whatever their size and the size of pages, others see them as soon as they are
// committed, what is undone leaves nothing, an error of the disk fails the transaction; the copier copies, says how far and names what is in
// its way. How: SQLite itself through the bundling VFS and a second connection. Left to others: power cuts (power_cut_test.cpp).
#include "Fixture.h"

#include "LogBundling.h"
#include "LogCopier.h"

#include <filesystem>

namespace patchbay::plugins::sqlite {
namespace {

class SqliteLog : public StoreTest {
protected:
    static constexpr std::chrono::milliseconds kNoWait{0};

    Database bundled(std::size_t pageBytes = 8'192) {
        auto opened = Database::open(path(), kNoWait, bundling_.name());
        EXPECT_TRUE(opened) << opened.error().toString();
        EXPECT_TRUE(opened->execute("PRAGMA page_size = " + std::to_string(pageBytes) + "; PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;"
                                    "CREATE TABLE t (b BLOB)"));
        return std::move(*opened);
    }
    static Status add(Database& database, int rows, int bytes) {
        Status status = database.execute("BEGIN");
        for (int i = 0; status && i < rows; ++i) status = database.execute("INSERT INTO t VALUES (zeroblob(" + std::to_string(bytes) + "))");
        return status ? database.execute("COMMIT") : status;
    }

private:
    LogBundling bundling_;
};

class SqliteLogPages : public SqliteLog, public testing::WithParamInterface<std::size_t> {};

TEST_P(SqliteLogPages, HoldTransactionsOfEverySizeAndOthersSeeThemAtOnce) {
    auto writer = bundled(GetParam());
    std::int64_t rows = 0;
    for (const int count : {1, 3, 16, 130, 700}) {
        ASSERT_TRUE(add(writer, count, 1'000));
        rows += count;
        EXPECT_EQ(ask("SELECT count(*) FROM t"), std::to_string(rows));
    }
    ASSERT_TRUE(add(writer, 1, 3'000'000));
    EXPECT_EQ(ask("SELECT count(*) || ' ' || sum(length(b)) FROM t"), std::to_string(rows + 1) + " " + std::to_string(rows * 1'000 + 3'000'000));
    EXPECT_EQ(ask("PRAGMA integrity_check"), "ok");
}

INSTANTIATE_TEST_SUITE_P(Sizes, SqliteLogPages, testing::Values(512, 4'096, 8'192, 65'536), testing::PrintToStringParamName());

TEST_F(SqliteLog, WhatIsUndoneLeavesNothingEvenWhenItWasInTheLogAlready) {
    auto writer = bundled();
    ASSERT_TRUE(add(writer, 5, 1'000));
    ASSERT_TRUE(writer.execute("PRAGMA cache_size = 2; BEGIN"));  // pages leave such a cache before the commit
    for (int i = 0; i < 200; ++i) ASSERT_TRUE(writer.execute("INSERT INTO t VALUES (zeroblob(5000))"));
    EXPECT_EQ(*writer.integer("SELECT count(*) FROM t"), 205) << "it reads what is not written yet";
    ASSERT_TRUE(writer.execute("ROLLBACK"));
    ASSERT_TRUE(add(writer, 2, 100));
    EXPECT_EQ(ask("SELECT count(*) || ' ' || sum(length(b)) FROM t"), "7 5200");
    EXPECT_EQ(ask("PRAGMA integrity_check"), "ok");
}

TEST_F(SqliteLog, ADiskThatIsFullFailsTheTransactionAndNotTheNextOne) {
    testkit::FaultyFiles faults(systemFiles());
    test::useFaultyVfs(&faults);
    const LogBundling overFaults;
    auto opened = Database::open(path(), kNoWait, overFaults.name());
    ASSERT_TRUE(opened);
    auto writer = std::move(*opened);
    ASSERT_TRUE(writer.execute("PRAGMA journal_mode = WAL; CREATE TABLE t (b BLOB)"));
    faults.failWrites(Status(StatusCode::Full, "no space left on device"));
    for (const int rows : {1, 300}) {
        EXPECT_EQ(add(writer, rows, 1'000).code(), StatusCode::Full) << rows;
        if (writer.inTransaction()) {
            ASSERT_TRUE(writer.execute("ROLLBACK"));
        }
        EXPECT_EQ(ask("SELECT count(*) FROM t"), "0");
    }
    faults.clear();
    ASSERT_TRUE(add(writer, 2, 1'000));
    EXPECT_EQ(ask("SELECT count(*) FROM t"), "2");
}

TEST_F(SqliteLog, TheCopierCopiesAllThatWasThereAndSaysHowMuch) {
    auto writer = bundled();
    ASSERT_TRUE(add(writer, 500, 1'000));
    LogCopier copier(log);
    ASSERT_TRUE(copier.open(path(), settings));
    copier.begin();
    copier.wait();
    EXPECT_FALSE(copier.isBusy());
    EXPECT_GT(copier.copiedBytes(), 500'000);
    EXPECT_GT(std::filesystem::file_size(path()), 500'000U);
    copier.forget();
    EXPECT_EQ(copier.copiedBytes(), 0);
    copier.stop();
    copier.begin();
    copier.wait();  // nothing runs any more
}

TEST_F(SqliteLog, TheCopierNamesWhatIsInItsWay) {
    testkit::FaultyFiles faults(systemFiles());
    auto writer = bundled();
    ASSERT_TRUE(add(writer, 500, 1'000));
    test::useFaultyVfs(&faults);
    LogCopier copier(log);
    ASSERT_TRUE(copier.open(path(), settings));
    faults.failSyncs(Status(StatusCode::Io, "the disk is gone"));
    copier.begin();
    copier.wait();
    EXPECT_EQ(copier.copiedBytes(), 0);
    EXPECT_TRUE(log.contains("PB-1504"));
    faults.clear();
    copier.begin();
    copier.wait();
    EXPECT_GT(copier.copiedBytes(), 500'000);
    copier.stop();
}

}  // namespace
}  // namespace patchbay::plugins::sqlite
