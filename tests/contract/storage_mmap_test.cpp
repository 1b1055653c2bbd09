// Proved: storage-mmap keeps the storage contract.
// How: the contract suite, on the system's files, with small ones so that their ends are crossed.
// Left to others: formats, recovery and Java's directories (tests/unit/plugins/storage-mmap).
#include "MmapStore.h"

#include "patchbay/testkit/FakeRuntime.h"
#include "patchbay/testkit/MessageStoreContract.h"

namespace {

namespace mmapstore = patchbay::mmapstore;
namespace testkit = patchbay::testkit;

constexpr std::int64_t kSegmentBytes = 8 << 20;

class MmapStoreUnderTest final : public testkit::StoreUnderTest {
public:
    MmapStoreUnderTest(const testkit::StoreOptions& options, const mmapstore::StoreOptions& own)
        : store_(options.files, options.clock, log_, own) {
        // The disk of who runs this may be rather full.
        store_.tunables().cleanForcibly = 0;
        store_.tunables().diskFreeBytesMin = 1;
    }
    patchbay::Status open() { return store_.open(); }
    patchbay::service::MessageStore& store() override { return store_; }

private:
    testkit::FakeLogger log_;
    mmapstore::MmapStore store_;
};

patchbay::Result<std::unique_ptr<testkit::StoreUnderTest>> openMmap(const testkit::TempDir& dir,
                                                                   const testkit::StoreOptions& options) {
    mmapstore::StoreOptions own;
    own.root = dir.path();
    own.segmentBytes = kSegmentBytes;
    own.queueFileBytes = 4000;
    own.indexSlots = 50;
    own.indexEntries = 200;
    own.syncFlush = options.syncFlush;
    auto result = std::make_unique<MmapStoreUnderTest>(options, own);
    if (patchbay::Status opened = result->open(); !opened) return opened;
    return std::unique_ptr<testkit::StoreUnderTest>(std::move(result));
}

}  // namespace

// RocketMQ's log: a batch of a client is several records, of which a crash may leave the first; whole files are removed; bodies have a
// checksum, which recovery looks at and a read does not.
PATCHBAY_STORE_CONTRACT(MmapStore, openMmap,
                        {.usesFileSystem = true, .detectsBitFlips = true, .tearsGroups = true, .trimGrainBytes = kSegmentBytes, .log = "commitlog/"});
