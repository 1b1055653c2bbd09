// DurableFiles: what of a directory's files a power cut would leave.
#pragma once

#include "patchbay/base/FileSystem.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace patchbay::testkit {

/// Told by FaultyFiles of every sync and every change of names; reads the files when they are synced. Directories are durable at once.
/// It keeps the worst: nothing that was not synced is there. Thread-safe.
class DurableFiles {
    struct Image {
        std::mutex mutex;
        std::string content;
    };
    using Names = std::map<std::string, std::shared_ptr<Image>>;

public:
    /// An open file's place in it; that of a file outside of the directory is empty.
    class Handle {
    public:
        Handle() = default;
        explicit Handle(std::shared_ptr<Image> image) : image_(std::move(image)) {}
        explicit operator bool() const noexcept { return image_ != nullptr; }
        void keep(const File& file) const;

    private:
        std::shared_ptr<Image> image_;
    };

    DurableFiles(FileSystem& files, std::string root);

    [[nodiscard]] Handle opened(const std::string& path);
    void renamed(const std::string& from, const std::string& to);
    void removed(const std::string& path);
    void keepNames(const std::string& directory);
    void keepAll(const std::string& directory);
    void keepWithName(const std::string& path);
    void forget(const std::string& path);
    void leaveTo(const std::string& directory);

private:
    [[nodiscard]] bool isInside(const std::string& path) const { return path.starts_with(root_ + "/"); }
    void walk(const std::string& directory);
    static std::string contentOf(const File& file);
    void keep(const std::string& path, Image& image);

    FileSystem& files_;
    const std::string root_;
    std::mutex mutex_;
    Names now_;
    Names durable_;
};

}  // namespace patchbay::testkit
