// Proved: this store keeps the contract of every store. How: the suite of the SDK.
#include "ToyStore.h"

#include "patchbay/testkit/MessageStoreContract.h"

namespace {

class ToyUnderTest final : public patchbay::testkit::StoreUnderTest {
public:
    ToyUnderTest(const std::string& directory, const patchbay::testkit::StoreOptions& options)
        : store_(directory, options.files, options.clock, options.syncFlush) {}
    patchbay::Status open() { return store_.open(); }
    patchbay::service::MessageStore& store() override { return store_; }

private:
    toy::ToyStore store_;
};

}  // namespace

PATCHBAY_STORE_CONTRACT(ToyStore,
                        [](const TempDir& dir, const StoreOptions& options) -> Result<std::unique_ptr<StoreUnderTest>> {
                            auto opened = std::make_unique<ToyUnderTest>(dir.path(), options);
                            if (Status status = opened->open(); !status) return status;
                            return std::unique_ptr<StoreUnderTest>(std::move(opened));
                        },
                        {.usesFileSystem = true, .detectsBitFlips = true});
