#include "QueueFiles.h"

#include <algorithm>

namespace patchbay::mmapstore {

Ref<Residency> QueueFile::residency(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    if (!residency_) {
        Result<Ref<Mapping>> map = file->map(0, bytes);
        if (map) residency_ = Ref<Residency>::adopt(new Residency(std::move(*map)));
    }
    return residency_;
}

Ref<QueueFile> QueueFiles::find(const Key& key) {
    const std::lock_guard lock(mutex_);
    const auto at = kept_.find(key);
    if (at == kept_.end()) return {};
    at->second.used = ++clock_;
    return at->second.file;
}

void QueueFiles::keep(const Key& key, const Ref<QueueFile>& file) {
    const std::lock_guard lock(mutex_);
    if (kept_.size() >= openMax_) {
        kept_.erase(std::min_element(kept_.begin(), kept_.end(),
                                     [](const auto& a, const auto& b) { return a.second.used < b.second.used; }));
    }
    kept_.insert_or_assign(key, Kept{file, ++clock_});
}

void QueueFiles::forget(const void* owner, std::int64_t from) {
    const std::lock_guard lock(mutex_);
    std::erase_if(kept_, [&](const auto& entry) { return entry.first.owner == owner && entry.first.start >= from; });
}

void QueueFiles::forgetBelow(const void* owner, std::int64_t to) {
    const std::lock_guard lock(mutex_);
    std::erase_if(kept_, [&](const auto& entry) { return entry.first.owner == owner && entry.first.start < to; });
}

}  // namespace patchbay::mmapstore
