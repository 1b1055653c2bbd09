// What the tests of the SQLite store share: a store in a directory, and a second connection as a person's SQL tool has it.
#pragma once

#include "SqliteStore.h"
#include "support/FaultyVfs.h"

#include "patchbay/testkit/FakeRuntime.h"
#include "patchbay/testkit/ManualClock.h"
#include "patchbay/testkit/StoreClient.h"
#include "patchbay/testkit/TempDir.h"

#include <gtest/gtest.h>
#include <memory>
#include <string>

namespace patchbay::plugins::sqlite {

class StoreTest : public testing::Test {
protected:
    StoreTest() { settings.directory = dir.path(); }
    ~StoreTest() override { test::useFaultyVfs(nullptr); }

    SqliteStore& store() {
        if (!store_) {
            store_ = std::make_unique<SqliteStore>(settings, systemFiles(), clock, log);
            const Status opened = store_->open();
            EXPECT_TRUE(opened) << opened.toString();
        }
        return *store_;
    }
    Status tryOpen() {
        store_.reset();
        return SqliteStore(settings, systemFiles(), clock, log).open();
    }
    void close() { store_.reset(); }

    [[nodiscard]] std::string path() const { return settings.directory + "/messages.db"; }
    Database tool() {
        auto opened = Database::open(path(), std::chrono::milliseconds(0));
        EXPECT_TRUE(opened) << opened.error().toString();
        return std::move(*opened);
    }
    /// The first column of a query's first row.
    std::string ask(const std::string& sql) {
        auto database = tool();
        const auto text = database.text(sql);
        EXPECT_TRUE(text) << text.error().toString();
        return text.value_or("");
    }

    testkit::TempDir dir;
    testkit::ManualClock clock;
    testkit::FakeLogger log;
    StoreSettings settings;

private:
    std::unique_ptr<SqliteStore> store_;
};

}  // namespace patchbay::plugins::sqlite
