// Proved: the memory store of the test kit keeps the storage contract, so that tests which stand on it are honest.
// How: the contract suite.
// Left to others: its controls for tests (tests/unit/testkit/memory_store_test.cpp).
#include "patchbay/testkit/MemoryStore.h"
#include "patchbay/testkit/MessageStoreContract.h"

namespace {

class MemoryStoreUnderTest final : public patchbay::testkit::StoreUnderTest {
public:
    explicit MemoryStoreUnderTest(const patchbay::Clock& clock) : store_(clock) {}
    patchbay::service::MessageStore& store() override { return store_; }

private:
    patchbay::testkit::MemoryStore store_;
};

}  // namespace

PATCHBAY_STORE_CONTRACT(MemoryStore, [](const TempDir&, const StoreOptions& options) -> Result<std::unique_ptr<StoreUnderTest>> {
    return std::unique_ptr<StoreUnderTest>(std::make_unique<MemoryStoreUnderTest>(options.clock));
});
