// The files of etc/plugins.d, for a test that adds some of its own.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

namespace patchbay::test {

inline std::map<std::string, std::string> ownPlugins() {
    std::map<std::string, std::string> files;
    for (const auto& one : std::filesystem::directory_iterator(PATCHBAY_SOURCE_DIR "/etc/plugins.d")) {
        std::ifstream file(one.path());
        files.emplace(one.path().filename().string(), std::string(std::istreambuf_iterator<char>(file), {}));
    }
    return files;
}

}  // namespace patchbay::test
