// MessageStoreContract: what every storage backend has to keep, as a GoogleTest suite that a backend adds in one file:
//
//   PATCHBAY_STORE_CONTRACT(SqliteStore, [](const TempDir& dir, const StoreOptions& options) { return open(dir, options); });
//
// at global scope. docs/store-contract.md has every case in a line. The suite prints at its end what it observed as rows of the
// capability table, or writes them to the file that the environment variable PATCHBAY_CAPABILITY_TABLE names.
#pragma once

#include "patchbay/base/FileSystem.h"
#include "patchbay/service/MessageStore.h"
#include "patchbay/testkit/FaultyFiles.h"
#include "patchbay/testkit/ManualClock.h"
#include "patchbay/testkit/StoreClient.h"
#include "patchbay/testkit/TempDir.h"

#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::testkit {

/// How a store shall be opened. References outlive the store.
struct StoreOptions {
    FileSystem& files;
    const Clock& clock;
    bool syncFlush = false;
};

/// An open store and what it needs around it. Destroying it closes the store properly.
class StoreUnderTest {
public:
    virtual ~StoreUnderTest() = default;
    [[nodiscard]] virtual service::MessageStore& store() = 0;
};

/// Opens a store of the backend in a directory, new or with what an earlier one left there.
using OpenStore = std::function<Result<std::unique_ptr<StoreUnderTest>>(const TempDir&, const StoreOptions&)>;

/// What the suite cannot see through MessageStore. Tests that do not apply are skipped and listed in the table.
struct StoreTraits {
    bool usesFileSystem = false;    ///< all its files go through StoreOptions::files, so that faults can be injected
    bool detectsBitFlips = false;   ///< after a kill, a body in whose bytes a bit is flipped is not served: the start or the read finds it
    bool detectsBitFlipsAfterStop = false;  ///< the same after a clean stop
    bool tearsGroups = false;       ///< what a crash leaves of a group that nobody was told of may be its first messages
    std::int64_t trimGrainBytes = 0;  ///< a trim may leave that many bytes below the offset that it was given
    /// Messages, or transactions of them, lie one behind the other in the files with this in their path: what stands before damage must
    /// come back. Empty: they do not.
    std::string log{};
};

struct StoreParam {
    std::string name;
    OpenStore open;
    StoreTraits traits;
};
inline void PrintTo(const StoreParam& param, std::ostream* out) { *out << param.name; }

/// The fixture: one store in one directory, which a test may close, reopen, or copy as a killed process would leave it.
class MessageStoreContract : public testing::TestWithParam<StoreParam> {
protected:
    MessageStoreContract();
    ~MessageStoreContract() override;

    /// The store, opened at the first use with the options below.
    service::MessageStore& store();
    /// Closes properly and opens again at the next use.
    void close();
    /// Goes on with a copy of the files as they are now, which is what is left of a killed process; the old store ends unseen.
    void killAndReopen();
    /// Opens the store anew on files of which it is remembered from now on what is durable.
    void watchPower();
    /// Goes on with what a power cut now leaves at worst.
    void cutPowerAndReopen();
    /// Copies the files as they are now into another directory.
    void copyFilesTo(const TempDir& copy);
    [[nodiscard]] Result<std::unique_ptr<StoreUnderTest>> open(const TempDir& dir);

    /// Appends `count` messages with bodies "<prefix>0" … to one queue.
    void appendMany(int count, std::string_view topic = "TopicTest", std::int32_t queueId = 0, std::string_view prefix = "body-");
    /// A read that must say `status`.
    service::ReadResult& read(std::string_view topic, std::int32_t queueId, std::int64_t offset, service::ReadStatus status,
                              const service::ReadLimits& limits = {}, const service::ReadFilter* filter = nullptr);
    /// The bodies of a whole queue.
    std::vector<std::string> bodies(std::string_view topic = "TopicTest", std::int32_t queueId = 0, std::int64_t offset = 0);
    /// Appends one message that must be stored, with the offset `queueOffset`, and reads it back.
    void expectAppends(std::int64_t queueOffset, std::string_view body = "afterwards", std::string_view topic = "TopicTest");
    [[nodiscard]] bool durable() { return store().capabilities().durable; }
    /// Adds a cell to the capability table.
    void observed(std::string_view what, std::string_view value) const;

    ManualClock clock;
    FaultyFiles files{systemFiles()};
    bool syncFlush = false;

private:
    void goOnWith(std::unique_ptr<TempDir> dir);

    std::unique_ptr<TempDir> dir_;
    std::unique_ptr<StoreUnderTest> open_;
    std::unique_ptr<StoreUnderTest> killed_;
    std::unique_ptr<TempDir> killedDir_;
    service::ReadResult result_;
};

/// Links the suite into a test program and registers the table's output; used by the macro.
int useStoreContract();

}  // namespace patchbay::testkit

/// Optional third argument: StoreTraits, e.g. {.usesFileSystem = true}.
#define PATCHBAY_STORE_CONTRACT(Name, ...)                                                                       \
    namespace patchbay::testkit {                                                                                \
    [[maybe_unused]] static const int kStoreContractOf##Name = useStoreContract();                               \
    INSTANTIATE_TEST_SUITE_P(Name, MessageStoreContract, testing::Values(makeStoreParam(#Name, __VA_ARGS__)));   \
    }                                                                                                            \
    static_assert(true)

namespace patchbay::testkit {
inline StoreParam makeStoreParam(std::string name, OpenStore open, StoreTraits traits = {}) {
    return {std::move(name), std::move(open), traits};
}
}  // namespace patchbay::testkit
