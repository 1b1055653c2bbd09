// Proves: a manifest is found in a well-formed library, and nothing a file claims is believed. How: a small ELF file built here,
// then cut and changed at every byte that matters. Left to others: real libraries (tests/plugin).
#include "plugin/ManifestReader.h"

#include "patchbay/plugin/AbiTag.h"
#include "patchbay/plugin/Manifest.h"

#include <gtest/gtest.h>

#include <cstring>
#include <elf.h>

namespace patchbay::kernel {
namespace {

using plugin::Manifest;

constexpr std::uint16_t kMachine =
#if defined(__aarch64__)
    EM_AARCH64;
#else
    EM_X86_64;
#endif

/// Header, manifest, section names, section table: in this order.
struct Library {
    Elf64_Ehdr header{};
    Manifest manifest{plugin::kManifestMagic, sizeof(Manifest), plugin::kApiMajor, plugin::kApiMinor, plugin::kStateless, PATCHBAY_ABI_TAG,
                      "pull", "1.2.3", "Hands out.", "a.Pull/1", "patchbay.MessageStore/1 patchbay.TopicConfigs/1", "", PATCHBAY_HEADERS};
    std::string names{"\0.shstrtab\0.patchbay\0", 21};
    Elf64_Shdr sections[3]{};

    Library() {
        std::memcpy(header.e_ident, ELFMAG, SELFMAG);
        header.e_ident[EI_CLASS] = ELFCLASS64;
        header.e_ident[EI_DATA] = ELFDATA2LSB;
        header.e_type = ET_DYN;
        header.e_machine = kMachine;
        header.e_shoff = sizeof header + sizeof manifest + names.size();
        header.e_shentsize = sizeof(Elf64_Shdr);
        header.e_shnum = 3;
        header.e_shstrndx = 1;
        sections[1].sh_name = 1;
        sections[1].sh_type = SHT_STRTAB;
        sections[1].sh_offset = sizeof header + sizeof manifest;
        sections[1].sh_size = names.size();
        sections[2].sh_name = 11;
        sections[2].sh_type = SHT_PROGBITS;
        sections[2].sh_offset = sizeof header;
        sections[2].sh_size = sizeof manifest;
    }

    [[nodiscard]] std::string bytes() const {
        std::string out(reinterpret_cast<const char*>(&header), sizeof header);
        out.append(reinterpret_cast<const char*>(&manifest), sizeof manifest);
        out += names;
        out.append(reinterpret_cast<const char*>(sections), sizeof sections);
        return out;
    }
};

std::optional<PluginDescription> parse(const std::string& bytes, Problems& problems) {
    const ReadExactly read = [&](std::uint64_t offset, std::span<char> buffer) {
        // What lies outside must not even be asked for.
        EXPECT_LE(offset + buffer.size(), bytes.size());
        if (offset + buffer.size() > bytes.size()) return false;
        std::memcpy(buffer.data(), bytes.data() + offset, buffer.size());
        return true;
    };
    return parseManifest(read, bytes.size(), "x.so", problems);
}

std::string problemOf(const Library& library) {
    Problems problems;
    if (const auto plugin = parse(library.bytes(), problems)) checkAbi(*plugin, "x.so", problems);
    return problems.size() == 1 ? problems.list()[0].toString() : "problems: " + problems.toString();
}

TEST(ManifestReader, ReadsAGoodLibrary) {
    Problems problems;
    const auto plugin = parse(Library().bytes(), problems);
    ASSERT_TRUE(plugin) << problems.toString();
    EXPECT_EQ(plugin->name, "pull");
    EXPECT_EQ(plugin->version, "1.2.3");
    EXPECT_EQ(plugin->provides, std::vector<std::string>{"a.Pull/1"});
    EXPECT_EQ(plugin->requires_, (std::vector<std::string>{"patchbay.MessageStore/1", "patchbay.TopicConfigs/1"}));
    EXPECT_TRUE(plugin->wants.empty());
    EXPECT_EQ(plugin->flags, plugin::kStateless);
    checkAbi(*plugin, "x.so", problems);
    EXPECT_TRUE(problems.empty()) << problems.toString();
}

TEST(ManifestReader, SaysWhichApiAndAbiDoNotFit) {
    Library library;
    library.manifest.apiMinor = plugin::kApiMinor + 1;
    EXPECT_EQ(problemOf(library),
              "PB-1103 x.so: built for plugin API 1.1, this broker offers 1.0. Upgrade the broker or rebuild the plugin with its SDK.");
    library = {};
    library.manifest.apiMajor = 0;
    library.manifest.size = 24;   // what an older major may look like
    EXPECT_EQ(problemOf(library), "PB-1103 x.so: built for plugin API 0.0, this broker offers 1.0. Upgrade or rebuild the plugin.");
    library = {};
    std::strcpy(library.manifest.abi, "gcc99-cxx11abi1");
    EXPECT_EQ(problemOf(library), "PB-1104 x.so: built with 'gcc99-cxx11abi1', this broker with '" PATCHBAY_ABI_TAG "'. Use one toolchain and preset.");
    library = {};
    std::strcpy(library.manifest.headers, "0123456789abcdef");
    EXPECT_EQ(problemOf(library), "PB-1105 x.so: comes from another working tree: built of headers '0123456789abcdef', this broker of '"
              PATCHBAY_HEADERS "'. Build both together, or use released versions.");
}

TEST(ManifestReader, RefusesOtherFilesWithOneLine) {
    Problems problems;
    EXPECT_FALSE(parse("", problems));
    EXPECT_FALSE(parse("#!/bin/sh\necho this is a script that is long enough to hold an ELF header, if it were one.\n", problems));
    ASSERT_EQ(problems.size(), 2U);
    EXPECT_EQ(problems.list()[1].toString(), "PB-1101 x.so: not a 64-bit ELF library for this machine");

    Library library;
    library.header.e_machine = EM_386;
    EXPECT_EQ(problemOf(library), "PB-1101 x.so: not a 64-bit ELF library for this machine");
    library = {};
    library.names[12] = 'q';
    EXPECT_EQ(problemOf(library), "PB-1102 x.so: not a Patchbay plugin (no .patchbay section)");
    library = {};
    library.manifest.magic ^= 1;
    EXPECT_EQ(problemOf(library), "PB-1102 x.so: not a Patchbay plugin (its .patchbay section does not start with the magic number)");
    library = {};
    library.manifest.size = 100;
    EXPECT_EQ(problemOf(library), "PB-1102 x.so: not a Patchbay plugin (its manifest is too short)");
}

TEST(ManifestReader, RefusesTextsThatAreNoNames) {
    Library library;
    std::memset(library.manifest.name, 'a', sizeof library.manifest.name);   // without an end
    EXPECT_NE(problemOf(library).find("PB-1109"), std::string::npos);
    library = {};
    std::strcpy(library.manifest.name, "../evil");
    EXPECT_NE(problemOf(library).find("PB-1109"), std::string::npos);
    library = {};
    std::strcpy(library.manifest.requires_, "patchbay.MessageStore");
    EXPECT_NE(problemOf(library).find("PB-1109"), std::string::npos);
    library = {};
    std::strcpy(library.manifest.description, "a\x1b[2Jb");
    EXPECT_NE(problemOf(library).find("PB-1109"), std::string::npos);
}

TEST(ManifestReader, SurvivesEveryTruncation) {
    const auto whole = Library().bytes();
    for (std::size_t size = 0; size < whole.size(); ++size) {
        Problems problems;
        EXPECT_FALSE(parse(whole.substr(0, size), problems)) << size;
        EXPECT_EQ(problems.size(), 1U) << size;
    }
}

TEST(ManifestReader, SurvivesHugeNumbersInEveryField) {
    const auto whole = Library().bytes();
    for (std::size_t at = 0; at + 8 <= whole.size(); ++at) {
        if (at >= sizeof(Elf64_Ehdr) && at < whole.size() - 3 * sizeof(Elf64_Shdr)) continue;
        for (const int fill : {0xFF, 0x80, 0x7F, 0x00}) {
            auto bytes = whole;
            std::memset(bytes.data() + at, fill, 8);
            Problems problems;
            (void)parse(bytes, problems);   // reading outside is what would fail
            EXPECT_LE(problems.size(), 1U);
        }
    }
}

}  // namespace
}  // namespace patchbay::kernel
