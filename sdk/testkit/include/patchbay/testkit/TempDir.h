// TempDir: a directory of a test's own.
#pragma once

#include <string>
#include <string_view>

namespace patchbay::testkit {

/// A new directory under TMPDIR (or /tmp), removed with everything in it when the object ends. Aborts when none can be made.
class TempDir {
public:
    TempDir();
    TempDir(const TempDir&) = delete;
    TempDir& operator=(const TempDir&) = delete;
    ~TempDir();

    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    /// path() + "/" + name.
    [[nodiscard]] std::string file(std::string_view name) const;

private:
    std::string path_;
};

}  // namespace patchbay::testkit
