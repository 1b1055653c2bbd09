#include "DurableFiles.h"

#include <filesystem>
#include <fstream>

namespace patchbay::testkit {

std::string DurableFiles::contentOf(const File& file) {
    const auto size = file.size();
    std::string content(size ? static_cast<std::size_t>(*size) : 0, '\0');
    const auto got = file.readAt(std::span(content.data(), content.size()), 0);
    content.resize(got ? *got : 0);
    return content;
}

void DurableFiles::Handle::keep(const File& file) const {
    std::string content = contentOf(file);
    const std::lock_guard lock(image_->mutex);
    image_->content = std::move(content);
}

DurableFiles::DurableFiles(FileSystem& files, std::string root) : files_(files), root_(std::move(root)) {
    walk(root_);
    keepAll(root_);
}

void DurableFiles::walk(const std::string& directory) {
    const auto entries = files_.list(directory);
    if (!entries) return;
    for (const FileInfo& entry : *entries) {
        const std::string path = directory + "/" + entry.name;
        if (entry.directory) walk(path);
        else now_.emplace(path, std::make_shared<Image>());
    }
}

void DurableFiles::keep(const std::string& path, Image& image) {
    const auto file = files_.open(path, OpenMode::Read);
    if (!file) return;
    std::string content = contentOf(**file);
    const std::lock_guard lock(image.mutex);
    image.content = std::move(content);
}

DurableFiles::Handle DurableFiles::opened(const std::string& path) {
    if (!isInside(path)) return {};
    const std::lock_guard lock(mutex_);
    auto& image = now_[path];
    if (!image) image = std::make_shared<Image>();
    return Handle(image);
}

void DurableFiles::renamed(const std::string& from, const std::string& to) {
    const std::lock_guard lock(mutex_);
    if (const auto file = now_.find(from); file != now_.end()) {
        now_.insert_or_assign(to, file->second);
        now_.erase(from);
        return;
    }
    // What lies in a directory goes with it.
    for (Names* names : {&now_, &durable_}) {
        Names moved;
        for (const auto& [path, image] : *names) {
            moved.emplace(path.starts_with(from + "/") ? to + path.substr(from.size()) : path, image);
        }
        *names = std::move(moved);
    }
}

void DurableFiles::removed(const std::string& path) {
    const std::lock_guard lock(mutex_);
    now_.erase(path);
}

void DurableFiles::keepNames(const std::string& directory) {
    const std::lock_guard lock(mutex_);
    const auto isHere = [&](const std::string& path) { return path.substr(0, path.rfind('/')) == directory; };
    std::erase_if(durable_, [&](const auto& entry) { return isHere(entry.first); });
    for (const auto& [path, image] : now_) {
        if (isHere(path)) durable_.emplace(path, image);
    }
}

void DurableFiles::keepAll(const std::string& directory) {
    const std::lock_guard lock(mutex_);
    std::erase_if(durable_, [&](const auto& entry) { return entry.first.starts_with(directory + "/"); });
    for (const auto& [path, image] : now_) {
        if (!path.starts_with(directory + "/")) continue;
        keep(path, *image);
        durable_.emplace(path, image);
    }
}

void DurableFiles::keepWithName(const std::string& path) {
    const std::lock_guard lock(mutex_);
    if (!isInside(path)) return;
    auto& image = now_[path];
    if (!image) image = std::make_shared<Image>();
    keep(path, *image);
    durable_.insert_or_assign(path, image);
}

void DurableFiles::forget(const std::string& path) {
    const std::lock_guard lock(mutex_);
    now_.erase(path);
    durable_.erase(path);
}

void DurableFiles::leaveTo(const std::string& directory) {
    const std::lock_guard lock(mutex_);
    for (const auto& [path, image] : durable_) {
        const std::filesystem::path to = directory + path.substr(root_.size());
        std::filesystem::create_directories(to.parent_path());
        const std::lock_guard content(image->mutex);
        std::ofstream(to, std::ios::binary) << image->content;
    }
}

}  // namespace patchbay::testkit
