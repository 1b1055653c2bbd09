// ManifestReader: what a plugin's file says of itself, read without loading it.
#pragma once

#include "app/Errors.h"
#include "patchbay/base/FileSystem.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace patchbay::kernel {

/// The manifest as texts and lists of our own.
struct PluginDescription {
    std::string name;
    std::string version;
    std::string description;
    std::string abi;
    std::string headers;
    std::uint32_t apiMajor = 0;
    std::uint32_t apiMinor = 0;
    std::uint32_t flags = 0;
    std::vector<std::string> provides;
    std::vector<std::string> requires_;
    std::vector<std::string> wants;
};

/// Fills the whole buffer from an offset of the file, or answers false.
using ReadExactly = std::function<bool(std::uint64_t offset, std::span<char> buffer)>;

/// Reads the manifest section of a 64-bit ELF library of this machine. Nothing in the file is trusted: every offset and length is
/// checked against `fileBytes` and small limits. Problems are PB-1101, PB-1102, PB-1109, or PB-1103 for a manifest of an API
/// major whose layout is unknown here; `where` names the file in them.
[[nodiscard]] std::optional<PluginDescription> parseManifest(const ReadExactly& read, std::uint64_t fileBytes,
                                                             const std::string& where, Problems& problems);
[[nodiscard]] std::optional<PluginDescription> readManifest(FileSystem& files, const std::string& path,
                                                            const std::string& where, Problems& problems);

/// Compares API, ABI and headers with this broker's: PB-1103, PB-1104 and PB-1105.
void checkAbi(const PluginDescription& plugin, const std::string& where, Problems& problems);

/// For `patchbay --inspect`.
[[nodiscard]] std::string describe(const PluginDescription& plugin);

}  // namespace patchbay::kernel
