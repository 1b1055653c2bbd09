// Stores with files, each broken in one way: suite_test says which case of the contract suite has to find which.
#include "Passing.h"

#include "patchbay/protocol/util/BigEndian.h"
#include "patchbay/protocol/util/Crc32.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <mutex>

namespace patchbay::test {

namespace {

using service::AppendStatus;
using service::ReadStatus;

constexpr std::size_t kEntryHeadBytes = 9;  // of the toy's file: kind, length, checksum

/// A batch that is handed on in the place of another one.
class InPlaceOf : public service::AppendBatch {
public:
    explicit InPlaceOf(service::AppendBatch& original) : original_(original) { items = original.items; }
    void done() noexcept override {
        original_.items = items;
        original_.failure = failure;
        original_.done();
        delete this;
    }

protected:
    service::AppendBatch& original_;
};

class FlushesNothing : public Passing {
    using Passing::Passing;
    Status flush() override { return Status::ok(); }
    [[nodiscard]] service::StoreStats stats() const override {
        auto stats = below_.stats();
        stats.behindFlushBytes = 0;
        return stats;
    }
};

class FlushesInMemory final : public FlushesNothing {
    using FlushesNothing::FlushesNothing;
    Status flush() override {
        (void)options_.files.syncAll("/nowhere");  // counted as a sync, but none of the store's files
        return Status::ok();
    }
};

class SwallowsFailedSyncs final : public PassingFile {
    using PassingFile::PassingFile;
    Status sync() override {
        (void)below_->sync();
        return Status::ok();
    }
};

class SyncsNothing final : public PassingFile {
    using PassingFile::PassingFile;
    Status sync() override { return Status::ok(); }
};

/// What a trim writes is turned into something that changes nothing: the deletion of a topic that is not there.
class ForgetsTrimsWhenKilled final : public PassingFile {
    using PassingFile::PassingFile;
    using PassingFile::writeAt;
    Status writeAt(std::string_view bytes, std::uint64_t offset) override {
        if (bytes.empty() || bytes.front() != 'T') return below_->writeAt(bytes, offset);
        std::string changed(bytes);
        changed[0] = 'D';
        const auto sum = protocol::crc32(bytes.substr(kEntryHeadBytes)) ^ static_cast<std::uint32_t>('D');
        protocol::storeI32(changed.data() + 5, static_cast<std::int32_t>(sum));
        return below_->writeAt(changed, offset);
    }
};

/// Checksums are made to fit whatever the file holds, as if nobody looked at them.
class ServesFlippedBits final : public PassingFile {
    using PassingFile::PassingFile;
    [[nodiscard]] Result<std::size_t> readAt(std::span<char> buffer, std::uint64_t offset) const override {
        const auto got = below_->readAt(buffer, offset);
        if (!got || offset != 0) return got;
        for (std::size_t at = 0; at + kEntryHeadBytes <= *got;) {
            char* const entry = buffer.data() + at;
            const auto length = static_cast<std::size_t>(protocol::loadI32(entry + 1));
            if (length > *got - at - kEntryHeadBytes) break;
            const auto sum = protocol::crc32({entry + kEntryHeadBytes, length}) ^ static_cast<std::uint32_t>(*entry);
            protocol::storeI32(entry + 5, static_cast<std::int32_t>(sum));
            at += kEntryHeadBytes + length;
        }
        return got;
    }
};

class TellsBeforeItIsDurable final : public Passing {
    using Passing::Passing;
    void append(service::AppendBatch& batch) noexcept override {
        {
            const std::lock_guard lock(mutex_);
            for (const auto& item : batch.items) {
                const service::AppendedRecord record{item.topic, item.properties, 0, 0, 0, 0, item.queueId, 0};
                for (auto* listener : listeners_) listener->appended({&record, 1});
            }
        }
        below_.append(batch);
    }
    void addListener(service::AppendListener& listener) override {
        const std::lock_guard lock(mutex_);
        listeners_.push_back(&listener);
    }
    void removeListener(service::AppendListener& listener) noexcept override {
        const std::lock_guard lock(mutex_);
        std::erase(listeners_, &listener);
    }
    std::mutex mutex_;
    std::vector<service::AppendListener*> listeners_;
};

/// Hands on one batch at a time, and forgets the others when it ends.
class ForgetsWhatWaitsAtTheEnd final : public Passing {
public:
    using Passing::Passing;
    ~ForgetsWhatWaitsAtTheEnd() override {
        std::unique_lock lock(mutex_);
        waiting_.clear();
        changed_.wait(lock, [this] { return !busy_; });
    }

private:
    class One final : public InPlaceOf {
    public:
        One(service::AppendBatch& original, ForgetsWhatWaitsAtTheEnd& owner) : InPlaceOf(original), owner_(owner) {}
        void done() noexcept override {
            auto& owner = owner_;
            InPlaceOf::done();
            owner.next();
        }

    private:
        ForgetsWhatWaitsAtTheEnd& owner_;
    };
    void append(service::AppendBatch& batch) noexcept override {
        {
            const std::lock_guard lock(mutex_);
            if (busy_) {
                waiting_.push_back(&batch);
                return;
            }
            busy_ = true;
        }
        below_.append(*new One(batch, *this));
    }
    void next() noexcept {
        service::AppendBatch* batch = nullptr;
        {
            const std::lock_guard lock(mutex_);
            if (waiting_.empty()) {
                busy_ = false;
                changed_.notify_all();
                return;
            }
            batch = waiting_.front();
            waiting_.pop_front();
        }
        below_.append(*new One(*batch, *this));
    }
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<service::AppendBatch*> waiting_;
    bool busy_ = false;
};

/// On a disk that cannot be read.
class ReadsWithErrors : public Passing {
public:
    using Passing::Passing;

protected:
    [[nodiscard]] bool broken() const {
        auto* const files = dynamic_cast<testkit::FaultyFiles*>(&options_.files);
        return files != nullptr && !files->beforeRead();
    }
};

class TakesReadErrorsForTheEnd final : public ReadsWithErrors {
    using ReadsWithErrors::ReadsWithErrors;
    void read(std::string_view topic, std::int32_t queueId, std::int64_t offset, const service::ReadLimits& limits,
              const service::ReadFilter* filter, service::ReadResult& result) noexcept override {
        Passing::read(topic, queueId, offset, limits, filter, result);
        if (!broken()) return;
        result.clear();
        result.status = ReadStatus::OffsetAtEnd;
        result.nextOffset = offset;
    }
};

class PassesReadErrorsOver final : public ReadsWithErrors {
    using ReadsWithErrors::ReadsWithErrors;
    void read(std::string_view topic, std::int32_t queueId, std::int64_t offset, const service::ReadLimits& limits,
              const service::ReadFilter* filter, service::ReadResult& result) noexcept override {
        Passing::read(topic, queueId, offset, limits, filter, result);
        if (!broken()) return;
        result.clear();
        result.status = ReadStatus::Failed;
        result.nextOffset = offset + 1;
    }
};

class DeniesWhatItCannotRead final : public ReadsWithErrors {
    using ReadsWithErrors::ReadsWithErrors;
    [[nodiscard]] Result<Slice> at(std::int64_t physicalOffset) const override {
        if (broken()) return Status(StatusCode::NotFound, "no message there");
        return below_.at(physicalOffset);
    }
};

class SplitsGroups final : public Passing {
    using Passing::Passing;
    void append(service::AppendBatch& batch) noexcept override {
        for (auto& item : batch.items) item.groupSize = 1;
        below_.append(batch);
    }
};

/// Each message is a write of its own, and counts when it was written.
class WritesOneByOne final : public Passing {
    using Passing::Passing;
    class One final : public service::AppendBatch {
    public:
        void done() noexcept override {
            const std::lock_guard lock(mutex_);
            done_ = true;
            changed_.notify_all();
        }
        void wait() {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [this] { return done_; });
        }

    private:
        std::mutex mutex_;
        std::condition_variable changed_;
        bool done_ = false;
    };
    void append(service::AppendBatch& batch) noexcept override {
        for (auto& item : batch.items) {
            One one;
            one.items.push_back(item);
            one.items.front().groupSize = 1;
            below_.append(one);
            one.wait();
            item = one.items.front();
            if (!one.failure) batch.failure = one.failure;
        }
        batch.done();
    }
};

class AnswersWithATimeout final : public Passing {
    using Passing::Passing;
    class One final : public InPlaceOf {
        using InPlaceOf::InPlaceOf;
        void done() noexcept override {
            for (auto& item : items) {
                if (!item.waitStored && item.status == AppendStatus::PutOk) item.status = AppendStatus::FlushDiskTimeout;
            }
            InPlaceOf::done();
        }
    };
    void append(service::AppendBatch& batch) noexcept override { below_.append(*new One(batch)); }
};

class CopiesOldMessages final : public Passing {
    using Passing::Passing;
    void read(std::string_view topic, std::int32_t queueId, std::int64_t offset, const service::ReadLimits& limits,
              const service::ReadFilter* filter, service::ReadResult& result) noexcept override {
        Passing::read(topic, queueId, offset, limits, filter, result);
        if (below_.stats().messagesAppended > 0) return;
        for (auto& piece : result.pieces) {
            const Slice copy = Slice::copyOf(piece);
            piece = copy.bytes;
            result.keep.push_back(copy.keep);
        }
    }
};

/// What a start makes of a file with a torn end.
template <typename OnTornEnd>
Result<std::unique_ptr<testkit::StoreUnderTest>> openWith(const testkit::TempDir& dir, const testkit::StoreOptions& options, OnTornEnd onTornEnd) {
    if (std::filesystem::exists(dir.file("messages"))) {
        toy::ToyLog log(options.files);
        if (log.open(dir.file("messages"), [](toy::ToyLog::Kind, std::string_view) {}) && log.tornBytes() > 0) {
            if (Status torn = onTornEnd(dir.file("messages")); !torn) return torn;
        }
    }
    return openOverToy<Passing>(dir, options);
}

/// A file whose last entry deletes a topic begins anew, and with it the physical offsets.
void beginAnewAfterADeletion(const testkit::TempDir& dir, const testkit::StoreOptions& options) {
    if (!std::filesystem::exists(dir.file("messages"))) return;
    toy::ToyLog log(options.files);
    auto last = toy::ToyLog::Kind::Group;
    (void)log.open(dir.file("messages"), [&](toy::ToyLog::Kind kind, std::string_view) { last = kind; });
    if (last == toy::ToyLog::Kind::TopicDeleted) std::filesystem::resize_file(dir.file("messages"), 0);
}

}  // namespace

}  // namespace patchbay::test

PATCHBAY_STORE_CONTRACT(SoundOverToy, patchbay::test::openOverToy<patchbay::test::Passing>, patchbay::test::kToyTraits);
PATCHBAY_OVER_TOY(FlushesNothing);
PATCHBAY_OVER_TOY(FlushesInMemory);
PATCHBAY_TOY_ON(SwallowsFailedSyncs);
PATCHBAY_TOY_ON(SyncsNothing);
PATCHBAY_TOY_ON(ForgetsTrimsWhenKilled);
PATCHBAY_TOY_ON(ServesFlippedBits);
PATCHBAY_OVER_TOY(TellsBeforeItIsDurable);
PATCHBAY_OVER_TOY(ForgetsWhatWaitsAtTheEnd);
PATCHBAY_OVER_TOY(TakesReadErrorsForTheEnd);
PATCHBAY_OVER_TOY(PassesReadErrorsOver);
PATCHBAY_OVER_TOY(DeniesWhatItCannotRead);
PATCHBAY_OVER_TOY(SplitsGroups);
PATCHBAY_OVER_TOY(WritesOneByOne);
PATCHBAY_OVER_TOY(AnswersWithATimeout);
PATCHBAY_OVER_TOY(CopiesOldMessages);
PATCHBAY_STORE_CONTRACT(DropsAllWhenTorn, [](const TempDir& dir, const StoreOptions& options) {
    return patchbay::test::openWith(dir, options, [](const std::string& path) {
        std::filesystem::resize_file(path, 0);
        return Status::ok();
    });
}, patchbay::test::kToyTraits);
PATCHBAY_STORE_CONTRACT(RefusesWhatIsTorn, [](const TempDir& dir, const StoreOptions& options) {
    return patchbay::test::openWith(dir, options, [](const std::string& path) { return Status(StatusCode::Corrupt, path + " is torn"); });
}, patchbay::test::kToyTraits);
PATCHBAY_STORE_CONTRACT(ForgetsNumbersOfDeletedTopics, [](const TempDir& dir, const StoreOptions& options) {
    patchbay::test::beginAnewAfterADeletion(dir, options);
    return patchbay::test::openOverToy<patchbay::test::Passing>(dir, options);
}, patchbay::test::kToyTraits);
