#include "support/PowerDisk.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <utility>

namespace patchbay::test {

namespace {

constexpr std::size_t kSector = 512;

}  // namespace

void PowerDisk::beforeChange(std::uint64_t number, std::function<void()> cut) {
    const std::lock_guard lock(mutex_);
    left_ = number;
    cut_ = std::move(cut);
}

void PowerDisk::change() {
    std::function<void()> cut;
    {
        const std::lock_guard lock(mutex_);
        if (left_ == 0 || --left_ > 0) return;
        cut = std::exchange(cut_, nullptr);
    }
    cut();
}

void PowerDisk::apply(std::string& content, const Change& change, std::size_t bytes) {
    const auto offset = static_cast<std::size_t>(change.offset);
    if (change.truncates) {
        content.resize(offset);
        return;
    }
    if (content.size() < offset + bytes) content.resize(offset + bytes);
    content.replace(offset, bytes, change.bytes, 0, bytes);
}

void PowerDisk::leaveTo(const std::string& directory, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const std::lock_guard lock(mutex_);
    for (const auto& [path, image] : files_) {
        std::string content = image.certain;
        for (const Change& change : image.pending) {
            const auto fate = random() % 4;
            if (fate == 0) continue;
            const std::size_t sectors = change.bytes.size() / kSector;
            const std::size_t bytes = fate == 1 && sectors > 0 ? kSector * (random() % sectors) : change.bytes.size();
            apply(content, change, bytes);
        }
        std::ofstream(directory + "/" + std::filesystem::path(path).filename().string(), std::ios::binary) << content;
    }
}

void PowerDisk::opened(const std::string& path) {
    const std::lock_guard lock(mutex_);
    if (files_.contains(path)) return;
    std::ifstream file(path, std::ios::binary);
    files_[path].certain.assign(std::istreambuf_iterator<char>(file), {});
}

void PowerDisk::wrote(const std::string& path, std::int64_t offset, std::string_view bytes) {
    change();
    const std::lock_guard lock(mutex_);
    files_[path].pending.push_back({offset, std::string(bytes), false});
}

void PowerDisk::truncated(const std::string& path, std::int64_t size) {
    change();
    const std::lock_guard lock(mutex_);
    files_[path].pending.push_back({size, {}, true});
}

void PowerDisk::synced(const std::string& path) {
    change();
    const std::lock_guard lock(mutex_);
    Image& image = files_[path];
    for (const Change& change : image.pending) apply(image.certain, change, change.bytes.size());
    image.pending.clear();
}

void PowerDisk::removed(const std::string& path) {
    change();
    const std::lock_guard lock(mutex_);
    files_.erase(path);
}

}  // namespace patchbay::test
