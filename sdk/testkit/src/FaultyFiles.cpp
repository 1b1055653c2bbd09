#include "patchbay/testkit/FaultyFiles.h"

#include "DurableFiles.h"

#include <chrono>
#include <utility>

namespace patchbay::testkit {

Status FaultyFiles::Faults::look(Status Faults::* which) {
    const std::lock_guard lock(mutex);
    return this->*which;
}

Status FaultyFiles::Faults::beforeWrite(bool* torn) {
    const std::lock_guard lock(mutex);
    if (!write && writesToPass > 0) {
        --writesToPass;
        return Status::ok();
    }
    if (torn != nullptr) *torn = !write && std::exchange(tear, false);
    return write;
}

Status FaultyFiles::Faults::beforeOpen(const std::string& path) {
    std::unique_lock lock(mutex);
    if (path.find(openPart) == std::string::npos) return Status::ok();
    if (holdOpens) {
        ++heldOpens;
        changed.notify_all();
        changed.wait(lock, [this] { return !holdOpens; });
        --heldOpens;
    }
    return open;
}

Status FaultyFiles::Faults::waitForSync() {
    std::unique_lock lock(mutex);
    if (hold) {
        ++held;
        changed.notify_all();
        changed.wait(lock, [this] { return !hold; });
        --held;
    }
    if (!sync && syncsToFail-- > 0) {
        if (syncsToFail > 0) return sync;
        return std::exchange(sync, Status::ok());
    }
    syncs.fetch_add(1);
    return Status::ok();
}

class FaultyMapping final : public Mapping {
public:
    FaultyMapping(Ref<Mapping> below, std::shared_ptr<FaultyFiles::Faults> faults)
        : below_(std::move(below)), faults_(std::move(faults)) {
        bytes_ = below_->bytes();
    }
    [[nodiscard]] bool resident(std::size_t offset, std::size_t size) const noexcept override {
        return faults_->look(&FaultyFiles::Faults::read) && below_->resident(offset, size);
    }
    [[nodiscard]] Status populate(std::size_t offset, std::size_t size) const override {
        if (Status fault = faults_->look(&FaultyFiles::Faults::read); !fault) return fault;
        return below_->populate(offset, size);
    }

private:
    const Ref<Mapping> below_;
    const std::shared_ptr<FaultyFiles::Faults> faults_;
};

class FaultyFiles::Durable final : public DurableFiles {
    using DurableFiles::DurableFiles;
};

class FaultyFile final : public File {
public:
    FaultyFile(std::unique_ptr<File> below, std::shared_ptr<FaultyFiles::Faults> faults, DurableFiles::Handle durable)
        : below_(std::move(below)), faults_(std::move(faults)), durable_(std::move(durable)) {}

    [[nodiscard]] const std::string& path() const noexcept override { return below_->path(); }
    [[nodiscard]] Result<std::uint64_t> size() const override { return below_->size(); }
    [[nodiscard]] Result<std::size_t> readAt(std::span<char> buffer, std::uint64_t offset) const override {
        if (Status fault = faults_->look(&FaultyFiles::Faults::read); !fault) return fault;
        return below_->readAt(buffer, offset);
    }
    Status writeAt(std::string_view bytes, std::uint64_t offset) override {
        bool torn = false;
        Status fault = faults_->beforeWrite(&torn);
        if (fault) return below_->writeAt(bytes, offset);
        if (torn) (void)below_->writeAt(bytes.substr(0, bytes.size() / 2), offset);
        return fault;
    }
    Status writeAt(std::span<iovec> pieces, std::uint64_t offset) override {
        bool torn = false;
        Status fault = faults_->beforeWrite(&torn);
        if (fault) return below_->writeAt(pieces, offset);
        std::string joined;
        for (const iovec& piece : pieces) joined.append(static_cast<const char*>(piece.iov_base), piece.iov_len);
        if (torn) (void)below_->writeAt(std::string_view(joined).substr(0, joined.size() / 2), offset);
        return fault;
    }
    Status sync() override {
        if (Status fault = faults_->waitForSync(); !fault) return fault;
        Status synced = below_->sync();
        if (synced && durable_) durable_.keep(*below_);
        return synced;
    }
    void startWriteback(std::uint64_t offset, std::uint64_t size) noexcept override { below_->startWriteback(offset, size); }
    Status truncate(std::uint64_t size) override {
        if (Status fault = faults_->beforeWrite(nullptr); !fault) return fault;
        return below_->truncate(size);
    }
    Status allocate(std::uint64_t offset, std::uint64_t size) override {
        if (Status fault = faults_->beforeWrite(nullptr); !fault) return fault;
        return below_->allocate(offset, size);
    }
    [[nodiscard]] Result<Ref<Mapping>> map(std::uint64_t offset, std::size_t size) const override {
        Result<Ref<Mapping>> below = below_->map(offset, size);
        if (!below) return below;
        return Ref<Mapping>(Ref<FaultyMapping>::adopt(new FaultyMapping(std::move(*below), faults_)));
    }

private:
    std::unique_ptr<File> below_;
    std::shared_ptr<FaultyFiles::Faults> faults_;
    DurableFiles::Handle durable_;
};

FaultyFiles::FaultyFiles(FileSystem& below) : faults_(std::make_shared<Faults>()), below_(below) {}
FaultyFiles::~FaultyFiles() = default;

void FaultyFiles::failWrites(Status with) {
    const std::lock_guard lock(faults_->mutex);
    faults_->write = std::move(with);
    faults_->writesToPass = 0;
    faults_->tear = false;
}

void FaultyFiles::failWritesAfter(std::uint64_t passing, Status with) {
    const std::lock_guard lock(faults_->mutex);
    faults_->write = std::move(with);
    faults_->writesToPass = passing;
    faults_->tear = true;
}

void FaultyFiles::failReads(Status with) {
    const std::lock_guard lock(faults_->mutex);
    faults_->read = std::move(with);
}

void FaultyFiles::failSyncs(Status with, std::uint64_t times) {
    const std::lock_guard lock(faults_->mutex);
    faults_->syncsToFail = times;
    faults_->sync = std::move(with);
}

void FaultyFiles::failOpens(Status with, std::string part) {
    const std::lock_guard lock(faults_->mutex);
    faults_->open = std::move(with);
    faults_->openPart = std::move(part);
}

void FaultyFiles::holdOpens(std::string part) {
    const std::lock_guard lock(faults_->mutex);
    faults_->holdOpens = true;
    faults_->openPart = std::move(part);
}

bool FaultyFiles::awaitHeldOpen() {
    std::unique_lock lock(faults_->mutex);
    return faults_->changed.wait_for(lock, std::chrono::seconds(10), [this] { return faults_->heldOpens > 0; });
}

void FaultyFiles::clear() {
    const std::lock_guard lock(faults_->mutex);
    faults_->write = faults_->read = faults_->sync = faults_->open = Status::ok();
    faults_->hold = faults_->holdOpens = false;
    faults_->changed.notify_all();
}

void FaultyFiles::holdSyncs() {
    const std::lock_guard lock(faults_->mutex);
    faults_->hold = true;
}

bool FaultyFiles::awaitHeldSync() {
    std::unique_lock lock(faults_->mutex);
    return faults_->changed.wait_for(lock, std::chrono::seconds(10), [this] { return faults_->held > 0; });
}

void FaultyFiles::watchPower(const std::string& directory) { durable_ = std::make_shared<Durable>(below_, directory); }

void FaultyFiles::leavePowerCut(const std::string& directory) const {
    if (durable_) durable_->leaveTo(directory);
}

void FaultyFiles::noteSync(const std::string& path) {
    if (durable_) durable_->keepWithName(path);
}

void FaultyFiles::noteRemoval(const std::string& path) {
    if (durable_) durable_->forget(path);
}

Status FaultyFiles::rename(const std::string& from, const std::string& to) {
    Status renamed = below_.rename(from, to);
    if (renamed && durable_) durable_->renamed(from, to);
    return renamed;
}

Status FaultyFiles::remove(const std::string& path) {
    Status removed = below_.remove(path);
    if (removed && durable_) durable_->removed(path);
    return removed;
}

Status FaultyFiles::syncDirectory(const std::string& path) {
    Status synced = below_.syncDirectory(path);
    if (synced && durable_) durable_->keepNames(path);
    return synced;
}

Status FaultyFiles::syncAll(const std::string& path) {
    if (Status fault = beforeSync(); !fault) return fault;
    Status synced = below_.syncAll(path);
    if (synced && durable_) durable_->keepAll(path);
    return synced;
}

Result<std::unique_ptr<File>> FaultyFiles::open(const std::string& path, OpenMode mode) {
    if (Status fault = faults_->beforeOpen(path); !fault) return fault;
    auto below = below_.open(path, mode);
    if (!below) return below.error();
    auto durable = durable_ ? durable_->opened(path) : DurableFiles::Handle();
    return std::unique_ptr<File>(std::make_unique<FaultyFile>(std::move(*below), faults_, std::move(durable)));
}

}  // namespace patchbay::testkit
