#include "Groups.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <mutex>

namespace patchbay::testkit {

// Some linkers take these objects into programs that only use other parts of the kit.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(MessageStoreContract);

namespace {

/// Rows of the capability table, collected over all tests of the program.
class Observations final : public testing::Environment {
public:
    void add(const std::string& store, std::string_view what, std::string_view value) {
        const std::lock_guard lock(mutex_);
        rows_[store][std::string(what)] = value;
    }
    void TearDown() override {
        const char* path = std::getenv("PATCHBAY_CAPABILITY_TABLE");
        std::ofstream file;
        if (path != nullptr) file.open(path);
        std::ostream& out = path != nullptr ? static_cast<std::ostream&>(file) : std::cout;
        for (const auto& [store, cells] : rows_) {
            for (const auto& [what, value] : cells) out << "| " << store << " | " << what << " | " << value << " |\n";
        }
    }

private:
    std::mutex mutex_;
    std::map<std::string, std::map<std::string, std::string>> rows_;
};

Observations* observations = nullptr;

void copyFiles(const std::string& from, const std::string& to) {
    std::filesystem::copy(from, to, std::filesystem::copy_options::recursive | std::filesystem::copy_options::overwrite_existing);
}

}  // namespace

std::vector<std::string> numbered(int from, int to, std::string_view prefix) {
    std::vector<std::string> all;
    for (int i = from; i < to; ++i) all.push_back(std::string(prefix) + std::to_string(i));
    return all;
}

int useStoreContract() {
    if (observations != nullptr) return 0;
    observations = new Observations;  // owned by GoogleTest from here on
    testing::AddGlobalTestEnvironment(observations);
    linkBasicTests();
    linkConcurrencyTests();
    linkDamageTests();
    linkDurabilityTests();
    linkFaultTests();
    linkListenerTests();
    linkLookupTests();
    linkRemovalTests();
    linkSpeedTests();
    return 1;
}

MessageStoreContract::MessageStoreContract() : dir_(std::make_unique<TempDir>()) {}

MessageStoreContract::~MessageStoreContract() {
    files.clear();  // a store that waits for its disk could not be closed
}

Result<std::unique_ptr<StoreUnderTest>> MessageStoreContract::open(const TempDir& dir) {
    return GetParam().open(dir, StoreOptions{files, clock, syncFlush});
}

service::MessageStore& MessageStoreContract::store() {
    if (!open_) {
        auto opened = open(*dir_);
        if (!opened) {
            ADD_FAILURE() << "the store does not open: " << opened.error().toString();
            PATCHBAY_ASSERT(opened.has_value());
        }
        open_ = std::move(*opened);
    }
    return open_->store();
}

void MessageStoreContract::close() { open_.reset(); }

void MessageStoreContract::killAndReopen() {
    auto copy = std::make_unique<TempDir>();
    copyFiles(dir_->path(), copy->path());
    goOnWith(std::move(copy));
}

void MessageStoreContract::watchPower() {
    close();
    files.watchPower(dir_->path());
}

void MessageStoreContract::cutPowerAndReopen() {
    auto left = std::make_unique<TempDir>();
    files.leavePowerCut(left->path());
    goOnWith(std::move(left));
}

void MessageStoreContract::goOnWith(std::unique_ptr<TempDir> dir) {
    killed_ = std::move(open_);
    killed_.reset();
    killedDir_ = std::exchange(dir_, std::move(dir));
}

void MessageStoreContract::copyFilesTo(const TempDir& copy) { copyFiles(dir_->path(), copy.path()); }

void MessageStoreContract::appendMany(int count, std::string_view topic, std::int32_t queueId, std::string_view prefix) {
    if (count == 0) return;
    TestBatch batch;
    for (int i = 0; i < count; ++i) {
        batch.add({.topic = std::string(topic), .queueId = queueId, .body = std::string(prefix) + std::to_string(i)});
    }
    batch.appendTo(store());
    ASSERT_TRUE(batch.wait());
    for (const auto& item : batch.items) ASSERT_EQ(item.status, service::AppendStatus::PutOk) << batch.failure.toString();
}

service::ReadResult& MessageStoreContract::read(std::string_view topic, std::int32_t queueId, std::int64_t offset,
                                                service::ReadStatus status, const service::ReadLimits& limits,
                                                const service::ReadFilter* filter) {
    store().read(topic, queueId, offset, limits, filter, result_);
    EXPECT_EQ(result_.status, status) << "at offset " << offset;
    return result_;
}

std::vector<std::string> MessageStoreContract::bodies(std::string_view topic, std::int32_t queueId, std::int64_t offset) {
    std::vector<std::string> all;
    for (auto& message : readAll(store(), topic, queueId, offset)) all.push_back(std::move(message.body));
    return all;
}

void MessageStoreContract::expectAppends(std::int64_t queueOffset, std::string_view body, std::string_view topic) {
    const auto item = appendOne(store(), {.topic = std::string(topic), .body = std::string(body)});
    ASSERT_EQ(item.status, service::AppendStatus::PutOk);
    EXPECT_EQ(item.queueOffset, queueOffset);
    EXPECT_EQ(bodies(topic, 0, item.queueOffset), std::vector<std::string>{std::string(body)});
}

void MessageStoreContract::observed(std::string_view what, std::string_view value) const { observations->add(GetParam().name, what, value); }

}  // namespace patchbay::testkit
