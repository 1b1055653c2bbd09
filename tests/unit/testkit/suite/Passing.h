// Passing: stores and files that pass everything on to others, to be broken in one place each.
#pragma once

#include "ToyStore.h"

#include "patchbay/testkit/MemoryStore.h"
#include "patchbay/testkit/MessageStoreContract.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace patchbay::test {

/// Passes all calls on to the store below, which outlives it.
class Passing : public service::MessageStore {
public:
    Passing(service::MessageStore& below, const testkit::StoreOptions& options) : below_(below), options_(options) {}

    [[nodiscard]] service::StoreCapabilities capabilities() const override { return below_.capabilities(); }
    void append(service::AppendBatch& batch) noexcept override { below_.append(batch); }
    void read(std::string_view topic, std::int32_t queueId, std::int64_t offset, const service::ReadLimits& limits,
              const service::ReadFilter* filter, service::ReadResult& result) noexcept override {
        below_.read(topic, queueId, offset, limits, filter, result);
    }
    [[nodiscard]] service::OffsetRange range(std::string_view topic, std::int32_t queueId) const noexcept override { return below_.range(topic, queueId); }
    [[nodiscard]] Result<std::int64_t> offsetAt(std::string_view topic, std::int32_t queueId, std::int64_t timeMs, service::Bound bound) const override {
        return below_.offsetAt(topic, queueId, timeMs, bound);
    }
    [[nodiscard]] Result<std::int64_t> storeTimeAt(std::string_view topic, std::int32_t queueId, std::int64_t offset) const override {
        return below_.storeTimeAt(topic, queueId, offset);
    }
    [[nodiscard]] Result<Slice> at(std::int64_t physicalOffset) const override { return below_.at(physicalOffset); }
    [[nodiscard]] Result<service::KeyHits> findByKey(const service::KeyQuery& query) const override { return below_.findByKey(query); }
    [[nodiscard]] std::vector<service::QueueKey> queues() const override { return below_.queues(); }
    Status deleteTopic(std::string_view topic) override { return below_.deleteTopic(topic); }
    void addListener(service::AppendListener& listener) override { below_.addListener(listener); }
    void removeListener(service::AppendListener& listener) noexcept override { below_.removeListener(listener); }
    Status flush() override { return below_.flush(); }
    Status trim(std::int64_t physicalOffset) override { return below_.trim(physicalOffset); }
    [[nodiscard]] service::StoreStats stats() const override { return below_.stats(); }

protected:
    service::MessageStore& below_;
    const testkit::StoreOptions options_;
};

/// Passes all calls on to the file below.
class PassingFile : public File {
public:
    explicit PassingFile(std::unique_ptr<File> below) : below_(std::move(below)) {}
    [[nodiscard]] const std::string& path() const noexcept override { return below_->path(); }
    [[nodiscard]] Result<std::uint64_t> size() const override { return below_->size(); }
    [[nodiscard]] Result<std::size_t> readAt(std::span<char> buffer, std::uint64_t offset) const override { return below_->readAt(buffer, offset); }
    Status writeAt(std::string_view bytes, std::uint64_t offset) override { return below_->writeAt(bytes, offset); }
    Status writeAt(std::span<iovec> pieces, std::uint64_t offset) override { return below_->writeAt(pieces, offset); }
    Status sync() override { return below_->sync(); }
    void startWriteback(std::uint64_t offset, std::uint64_t size) noexcept override { below_->startWriteback(offset, size); }
    Status truncate(std::uint64_t size) override { return below_->truncate(size); }
    Status allocate(std::uint64_t offset, std::uint64_t size) override { return below_->allocate(offset, size); }
    [[nodiscard]] Result<Ref<Mapping>> map(std::uint64_t offset, std::size_t size) const override { return below_->map(offset, size); }

protected:
    std::unique_ptr<File> below_;
};

/// Passes all calls on to the files below; opened files are a `Broken` each.
template <typename Broken>
class PassingFiles final : public FileSystem {
public:
    explicit PassingFiles(FileSystem& below) : below_(below) {}
    [[nodiscard]] Result<std::unique_ptr<File>> open(const std::string& path, OpenMode mode) override {
        auto below = below_.open(path, mode);
        if (!below) return below.error();
        return std::unique_ptr<File>(std::make_unique<Broken>(std::move(*below)));
    }
    Status makeDirectories(const std::string& path) override { return below_.makeDirectories(path); }
    [[nodiscard]] Result<std::vector<FileInfo>> list(const std::string& path) const override { return below_.list(path); }
    [[nodiscard]] bool exists(const std::string& path) const noexcept override { return below_.exists(path); }
    Status rename(const std::string& from, const std::string& to) override { return below_.rename(from, to); }
    Status remove(const std::string& path) override { return below_.remove(path); }
    Status syncDirectory(const std::string& path) override { return below_.syncDirectory(path); }
    Status syncAll(const std::string& path) override { return below_.syncAll(path); }
    [[nodiscard]] Result<DiskSpace> space(const std::string& path) const override { return below_.space(path); }
    [[nodiscard]] Result<std::unique_ptr<FileLock>> lock(const std::string& path) override { return below_.lock(path); }

private:
    FileSystem& below_;
};

/// A broken store over one in memory.
template <typename Broken>
class OverMemory final : public testkit::StoreUnderTest {
public:
    explicit OverMemory(const testkit::StoreOptions& options) : memory_(options.clock), broken_(memory_, options) {}
    service::MessageStore& store() override { return broken_; }

private:
    testkit::MemoryStore memory_;
    Broken broken_;
};

/// A broken store over the toy store, or on broken files.
template <typename Broken, typename BrokenFile>
class OverToy final : public testkit::StoreUnderTest {
public:
    OverToy(const testkit::TempDir& dir, const testkit::StoreOptions& options)
        : files_(options.files), toy_(dir.path(), files_, options.clock, options.syncFlush), broken_(toy_, options) {}
    Status open() { return toy_.open(); }
    service::MessageStore& store() override { return broken_; }

private:
    PassingFiles<BrokenFile> files_;
    toy::ToyStore toy_;
    Broken broken_;
};

template <typename Broken>
Result<std::unique_ptr<testkit::StoreUnderTest>> openOverMemory(const testkit::TempDir&, const testkit::StoreOptions& options) {
    return std::unique_ptr<testkit::StoreUnderTest>(std::make_unique<OverMemory<Broken>>(options));
}

template <typename Broken, typename BrokenFile = PassingFile>
Result<std::unique_ptr<testkit::StoreUnderTest>> openOverToy(const testkit::TempDir& dir, const testkit::StoreOptions& options) {
    auto opened = std::make_unique<OverToy<Broken, BrokenFile>>(dir, options);
    if (Status status = opened->open(); !status) return status;
    return std::unique_ptr<testkit::StoreUnderTest>(std::move(opened));
}

inline const testkit::StoreTraits kToyTraits{.usesFileSystem = true, .detectsBitFlips = true, .detectsBitFlipsAfterStop = true, .log = "messages"};

}  // namespace patchbay::test

#define PATCHBAY_OVER_MEMORY(Name) PATCHBAY_STORE_CONTRACT(Name, patchbay::test::openOverMemory<patchbay::test::Name>)
#define PATCHBAY_OVER_TOY(Name) PATCHBAY_STORE_CONTRACT(Name, patchbay::test::openOverToy<patchbay::test::Name>, patchbay::test::kToyTraits)
#define PATCHBAY_TOY_ON(Name) \
    PATCHBAY_STORE_CONTRACT(Name, (patchbay::test::openOverToy<patchbay::test::Passing, patchbay::test::Name>), patchbay::test::kToyTraits)
