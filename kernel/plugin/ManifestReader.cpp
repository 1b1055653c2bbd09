#include "plugin/ManifestReader.h"

#include "patchbay/plugin/AbiTag.h"
#include "patchbay/plugin/Manifest.h"

#include <algorithm>
#include <cstring>
#include <elf.h>

namespace patchbay::kernel {

namespace {

using plugin::Manifest;

constexpr std::uint64_t kSectionsMax = 4096;
constexpr std::uint64_t kNamesBytesMax = 1U << 20;

#if defined(__x86_64__)
constexpr std::uint16_t kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr std::uint16_t kMachine = EM_AARCH64;
#else
#error "name this machine's ELF number"
#endif

template <typename T>
bool readObject(const ReadExactly& read, std::uint64_t offset, T& out) {
    return read(offset, {reinterpret_cast<char*>(&out), sizeof out});
}

bool within(std::uint64_t offset, std::uint64_t size, std::uint64_t total) {
    return offset <= total && size <= total - offset;
}

enum class Found : std::uint8_t { Yes, NotElf, NoSection, Damaged };

/// Position and size of the manifest section.
Found findSection(const ReadExactly& read, std::uint64_t fileBytes, std::uint64_t& offset, std::uint64_t& size) {
    Elf64_Ehdr header;
    if (fileBytes < sizeof header || !readObject(read, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
        return Found::NotElf;
    }
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_type != ET_DYN ||
        header.e_machine != kMachine) {
        return Found::NotElf;
    }
    const std::uint64_t count = header.e_shnum;
    if (count == 0 || count > kSectionsMax || header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shstrndx >= count ||
        !within(header.e_shoff, count * sizeof(Elf64_Shdr), fileBytes)) {
        return Found::Damaged;
    }
    std::vector<Elf64_Shdr> sections(count);
    if (!read(header.e_shoff, {reinterpret_cast<char*>(sections.data()), count * sizeof(Elf64_Shdr)})) return Found::Damaged;
    const auto& strings = sections[header.e_shstrndx];
    if (strings.sh_size > kNamesBytesMax || !within(strings.sh_offset, strings.sh_size, fileBytes)) return Found::Damaged;
    std::string names(strings.sh_size, '\0');
    if (!read(strings.sh_offset, names)) return Found::Damaged;
    const std::string_view wanted(plugin::kManifestSection, sizeof plugin::kManifestSection);   // with its zero byte
    for (const auto& section : sections) {
        if (section.sh_name >= names.size()) continue;
        if (std::string_view(names).substr(section.sh_name, wanted.size()) != wanted) continue;
        if (section.sh_type == SHT_NOBITS || !within(section.sh_offset, section.sh_size, fileBytes)) return Found::Damaged;
        offset = section.sh_offset;
        size = section.sh_size;
        return Found::Yes;
    }
    return Found::NoSection;
}

template <std::size_t N>
bool takeText(const char (&field)[N], std::string& out) {
    const auto* end = static_cast<const char*>(std::memchr(field, 0, N));
    if (end == nullptr) return false;
    out.assign(field, end);
    return std::all_of(out.begin(), out.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7F; });
}

bool plainName(std::string_view name) {
    return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
    });
}

/// "patchbay.MessageStore/1"
bool plainService(std::string_view id) {
    const auto slash = id.find('/');
    if (slash == std::string_view::npos || slash == 0 || slash + 1 == id.size()) return false;
    const auto digits = id.substr(slash + 1);
    const auto name = id.substr(0, slash);
    return digits.find_first_not_of("0123456789") == std::string_view::npos && std::all_of(name.begin(), name.end(), [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
           });
}

template <std::size_t N>
bool takeServices(const char (&field)[N], std::vector<std::string>& out) {
    std::string text;
    if (!takeText(field, text)) return false;
    std::string_view rest = text;
    while (!rest.empty()) {
        const auto end = std::min(rest.find(' '), rest.size());
        const auto id = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        if (id.empty()) continue;
        if (!plainService(id)) return false;
        out.emplace_back(id);
    }
    return true;
}

std::optional<PluginDescription> takeManifest(const Manifest& manifest) {
    PluginDescription plugin;
    plugin.apiMajor = manifest.apiMajor;
    plugin.apiMinor = manifest.apiMinor;
    plugin.flags = manifest.flags;
    const bool good = takeText(manifest.abi, plugin.abi) && takeText(manifest.name, plugin.name) && plainName(plugin.name) &&
                      takeText(manifest.version, plugin.version) && takeText(manifest.description, plugin.description) &&
                      takeServices(manifest.provides, plugin.provides) && takeServices(manifest.requires_, plugin.requires_) &&
                      takeServices(manifest.wants, plugin.wants) && takeText(manifest.headers, plugin.headers);
    return good ? std::optional(std::move(plugin)) : std::nullopt;
}

std::string version(std::uint32_t major, std::uint32_t minor) {
    return std::to_string(major) + "." + std::to_string(minor);
}

void reportApi(std::uint32_t major, std::uint32_t minor, const std::string& where, Problems& problems) {
    const bool newer = major > plugin::kApiMajor || (major == plugin::kApiMajor && minor > plugin::kApiMinor);
    problems.add(ErrorNumber::PluginApi, where,
                 "built for plugin API " + version(major, minor) + ", this broker offers " +
                     version(plugin::kApiMajor, plugin::kApiMinor) +
                     (newer ? ". Upgrade the broker or rebuild the plugin with its SDK." : ". Upgrade or rebuild the plugin."));
}

std::string join(const std::vector<std::string>& list) {
    std::string text;
    for (const auto& word : list) text += (text.empty() ? "" : " ") + word;
    return text.empty() ? "-" : text;
}

}  // namespace

std::optional<PluginDescription> parseManifest(const ReadExactly& read, std::uint64_t fileBytes, const std::string& where,
                                               Problems& problems) {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    switch (findSection(read, fileBytes, offset, size)) {
        case Found::Yes: break;
        case Found::NotElf:
            problems.add(ErrorNumber::PluginFileUnreadable, where, "not a 64-bit ELF library for this machine");
            return std::nullopt;
        case Found::NoSection:
            problems.add(ErrorNumber::NotAPlugin, where, "not a Patchbay plugin (no .patchbay section)");
            return std::nullopt;
        case Found::Damaged:
            problems.add(ErrorNumber::NotAPlugin, where, "not a Patchbay plugin (the file is damaged or cut off)");
            return std::nullopt;
    }
    Manifest manifest{};
    constexpr std::uint64_t kHead = offsetof(Manifest, flags);   // laid out alike in all API majors
    if (size < kHead || !read(offset, {reinterpret_cast<char*>(&manifest), kHead}) || manifest.magic != plugin::kManifestMagic) {
        problems.add(ErrorNumber::NotAPlugin, where, "not a Patchbay plugin (its .patchbay section does not start with the magic number)");
        return std::nullopt;
    }
    if (manifest.apiMajor != plugin::kApiMajor) {
        reportApi(manifest.apiMajor, manifest.apiMinor, where, problems);
        return std::nullopt;
    }
    if (manifest.size < sizeof manifest || size < sizeof manifest || !readObject(read, offset, manifest)) {
        problems.add(ErrorNumber::NotAPlugin, where, "not a Patchbay plugin (its manifest is too short)");
        return std::nullopt;
    }
    auto plugin = takeManifest(manifest);
    if (!plugin) problems.add(ErrorNumber::PluginManifestText, where, "a text of its manifest is not ended, not plain, or not a name");
    return plugin;
}

std::optional<PluginDescription> readManifest(FileSystem& files, const std::string& path, const std::string& where,
                                              Problems& problems) {
    const auto file = files.open(path, OpenMode::Read);
    const auto size = file ? (*file)->size() : Result<std::uint64_t>(file.error());
    if (!size) {
        problems.add(ErrorNumber::PluginFileUnreadable, where, "cannot open: " + size.error().message());
        return std::nullopt;
    }
    const ReadExactly read = [&](std::uint64_t offset, std::span<char> buffer) {
        const auto count = (*file)->readAt(buffer, offset);
        return count && *count == buffer.size();
    };
    return parseManifest(read, *size, where, problems);
}

void checkAbi(const PluginDescription& plugin, const std::string& where, Problems& problems) {
    if (plugin.apiMajor != plugin::kApiMajor || plugin.apiMinor > plugin::kApiMinor) {
        reportApi(plugin.apiMajor, plugin.apiMinor, where, problems);
    }
    if (plugin.abi != PATCHBAY_ABI_TAG) {
        problems.add(ErrorNumber::PluginAbi, where,
                     "built with '" + plugin.abi + "', this broker with '" PATCHBAY_ABI_TAG "'. Use one toolchain and preset.");
        return;
    }
    const bool released = plugin.headers.starts_with("r-") && std::string_view(PATCHBAY_HEADERS).starts_with("r-");
    if (!released && plugin.headers != PATCHBAY_HEADERS) {
        problems.add(ErrorNumber::PluginHeaders, where,
                     "comes from another working tree: built of headers '" + plugin.headers + "', this broker of '" PATCHBAY_HEADERS
                     "'. Build both together, or use released versions.");
    }
}

std::string describe(const PluginDescription& plugin) {
    std::string flags;
    if ((plugin.flags & plugin::kConcurrentGenerations) != 0) flags += " concurrentGenerations";
    if ((plugin.flags & plugin::kStateless) != 0) flags += " stateless";
    if ((plugin.flags & plugin::kStartsFirst) != 0) flags += " startsFirst";
    return "name         " + plugin.name + "\nversion      " + plugin.version + "\ndescription  " + plugin.description +
           "\nplugin API   " + version(plugin.apiMajor, plugin.apiMinor) + "\nABI          " + plugin.abi + "\nheaders      " + (plugin.headers.empty() ? "-" : plugin.headers) +
           "\nflags       " +
           (flags.empty() ? " -" : flags) + "\nprovides     " + join(plugin.provides) + "\nrequires     " +
           join(plugin.requires_) + "\nwants        " + join(plugin.wants) + "\n";
}

}  // namespace patchbay::kernel
