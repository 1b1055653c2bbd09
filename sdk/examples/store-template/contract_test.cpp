// Proved: this store keeps the contract of every store; damage inside its file is not taken for the torn end of a crash.
// How: the suite of the SDK; a byte is changed, or the file cut, between two openings. Left to others: a broker on it.
#include "ToyStore.h"

#include "patchbay/testkit/MessageStoreContract.h"
#include "patchbay/testkit/TempDir.h"

#include <filesystem>
#include <fstream>

namespace {

using namespace patchbay;

class ToyLogFile : public ::testing::Test {
protected:
    static constexpr int kEntries = 5;
    static constexpr std::size_t kEntryBytes = 9 + 6;

    void SetUp() override {
        toy::ToyLog log(systemFiles());
        ASSERT_TRUE(log.open(path(), {}));
        for (int i = 0; i < kEntries; ++i) log.add(toy::ToyLog::Kind::Group, "text-" + std::to_string(i));
        ASSERT_TRUE(log.write());
    }
    [[nodiscard]] std::string path() const { return dir.file("messages"); }
    void flip(std::size_t at) const {
        std::fstream file(path(), std::ios::in | std::ios::out | std::ios::binary);
        file.seekg(static_cast<std::streamoff>(at));
        const auto byte = static_cast<char>(file.get() ^ 0x10);
        file.seekp(static_cast<std::streamoff>(at));
        file.put(byte);
    }
    /// How many entries are read; -1 when the file is refused.
    int entries(std::size_t* torn = nullptr) const {
        toy::ToyLog log(systemFiles());
        int count = 0;
        const auto opened = log.open(path(), [&](toy::ToyLog::Kind, std::string_view) { ++count; });
        if (torn != nullptr) *torn = log.tornBytes();
        return opened ? count : -1;
    }

    testkit::TempDir dir;
};

TEST_F(ToyLogFile, AFlippedByteAnywhereBeforeTheLastEntryIsRefused) {
    const std::size_t size = std::filesystem::file_size(path());
    ASSERT_EQ(size, kEntries * kEntryBytes);
    for (std::size_t at = 0; at < size - kEntryBytes; ++at) {
        flip(at);
        EXPECT_EQ(entries(), -1) << "byte " << at;
        EXPECT_EQ(std::filesystem::file_size(path()), size) << "nothing was cut off";
        flip(at);
    }
    EXPECT_EQ(entries(), kEntries);
}

TEST_F(ToyLogFile, ATornEndIsLeftOutAndItsLengthIsKnown) {
    std::filesystem::resize_file(path(), kEntries * kEntryBytes - 2);
    std::size_t torn = 0;
    EXPECT_EQ(entries(&torn), kEntries - 1);
    EXPECT_EQ(torn, kEntryBytes - 2);
}

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
                        {.usesFileSystem = true, .detectsBitFlips = true, .detectsBitFlipsAfterStop = true, .log = "messages"});
