#include "patchbay/testkit/TempDir.h"

#include "patchbay/base/Assert.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <unistd.h>

namespace patchbay::testkit {

TempDir::TempDir() {
    const char* parent = std::getenv("TMPDIR");
    path_ = std::string(parent != nullptr && *parent != '\0' ? parent : "/tmp") + "/patchbay-test-XXXXXX";
    PATCHBAY_ASSERT(mkdtemp(path_.data()) != nullptr);
}

TempDir::~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

std::string TempDir::file(std::string_view name) const { return path_ + "/" + std::string(name); }

}  // namespace patchbay::testkit
