// The manifest: what a plugin says of itself in its file, readable without loading it.
#pragma once

#include <cstdint>

namespace patchbay::plugin {

/// The API that this SDK describes. Major: older plugins are refused. Minor: something was added at an end.
inline constexpr std::uint32_t kApiMajor = 1;
inline constexpr std::uint32_t kApiMinor = 0;

inline constexpr char kManifestSection[] = ".patchbay";
inline constexpr std::uint64_t kManifestMagic = 0x5059414248435450ULL;  // "PTCHBAYP" read as little-endian bytes

enum ManifestFlags : std::uint32_t {
    kConcurrentGenerations = 1U << 0,  ///< two generations may serve at once: may be swapped under load
    kStateless = 1U << 1,              ///< nothing is lost when it is destroyed
    kStartsFirst = 1U << 2,            ///< before all others that could start as well: puts files in their place that they read
};

/// Constant and free of pointers, so that a tool reads it from the ELF section. Texts end in a zero byte.
/// Lists are separated by single blanks; a service is written "patchbay.MessageStore/1".
struct Manifest {
    std::uint64_t magic;
    std::uint32_t size;      ///< sizeof(Manifest) of the SDK that built it
    std::uint32_t apiMajor;
    std::uint32_t apiMinor;
    std::uint32_t flags;
    char abi[96];            ///< AbiTag.h
    char name[32];
    char version[16];
    char description[160];
    char provides[256];      ///< services that it publishes
    char requires_[256];     ///< services it cannot run without
    char wants[256];         ///< services it uses when they are there
    char headers[24];        ///< of which public headers it was built; see PATCHBAY_HEADERS in Plugin.h
};

}  // namespace patchbay::plugin
