// Proved: the SQLite store keeps the storage contract.
// How: the contract suite, with and without the tail cache, so that the same reads come from memory and from the database.
// SQLite's files go through a VFS of the test, by which the suite makes them fail.
// Left to others: schema, views, retention and bad databases (tests/unit/plugins/storage-sqlite).
#include "SqliteStore.h"
#include "support/FaultyVfs.h"

#include "patchbay/testkit/FakeRuntime.h"
#include "patchbay/testkit/MessageStoreContract.h"

namespace {

using patchbay::plugins::sqlite::SqliteStore;
using patchbay::plugins::sqlite::StoreSettings;

class SqliteUnderTest final : public patchbay::testkit::StoreUnderTest {
public:
    SqliteUnderTest(StoreSettings settings, const patchbay::testkit::StoreOptions& options)
        : store_(std::move(settings), options.files, options.clock, log_) {}
    patchbay::Status open() { return store_.open(); }
    patchbay::service::MessageStore& store() override { return store_; }

private:
    patchbay::testkit::FakeLogger log_;
    SqliteStore store_;
};

patchbay::Result<std::unique_ptr<patchbay::testkit::StoreUnderTest>> openStore(const patchbay::testkit::TempDir& dir,
                                                                              const patchbay::testkit::StoreOptions& options,
                                                                              std::size_t tailCacheBytes) {
    patchbay::test::useFaultyVfs(dynamic_cast<patchbay::testkit::FaultyFiles*>(&options.files));
    StoreSettings settings;
    settings.directory = dir.path();
    settings.syncFlush = options.syncFlush;
    settings.tailCacheBytes = tailCacheBytes;
    auto opened = std::make_unique<SqliteUnderTest>(std::move(settings), options);
    if (patchbay::Status status = opened->open(); !status) return status;
    return std::unique_ptr<patchbay::testkit::StoreUnderTest>(std::move(opened));
}

// Each transaction is behind the one before in the write-ahead log; bodies have a checksum, which every read looks at.
const patchbay::testkit::StoreTraits kTraits{.usesFileSystem = true, .detectsBitFlips = true, .detectsBitFlipsAfterStop = true, .log = "messages.db-wal"};

}  // namespace

PATCHBAY_STORE_CONTRACT(SqliteStore, [](const TempDir& dir, const StoreOptions& options) { return openStore(dir, options, 8U << 20); },
                        kTraits);
PATCHBAY_STORE_CONTRACT(SqliteStoreWithoutTail, [](const TempDir& dir, const StoreOptions& options) { return openStore(dir, options, 0); },
                        kTraits);
