// Proves: where the disk has no room for the private copy of a library it is loaded from memory. How: a plugin of the fixtures and a
// directory that does not exist. Left to others: loading from files, bad libraries (tests/plugin).
#include "plugin/PluginLibrary.h"

#include <gtest/gtest.h>

namespace patchbay::kernel {
namespace {

TEST(PluginLibrary, IsLoadedFromMemoryWhereItCannotBeCopied) {
    const std::string installed = PATCHBAY_FIXTURE_DIR "/patchbay-bell.so";
    auto library = PluginLibrary::open(systemFiles(), installed, "/nowhere/at/all/bell.so");
    ASSERT_TRUE(library) << library.error().toString();
    EXPECT_TRUE((*library)->inMemory());
    EXPECT_FALSE((*library)->differsFrom(installed));
    auto* plugin = (*library)->create();
    ASSERT_NE(plugin, nullptr);
    EXPECT_EQ(plugin->configKeys().size(), 2U);
    (*library)->destroy(plugin);
    (*library)->unloadAtEnd();
}

TEST(PluginLibrary, SaysWhatIsMissing) {
    const auto library = PluginLibrary::open(systemFiles(), "/nowhere/patchbay-bell.so", "/nowhere/copy.so");
    ASSERT_FALSE(library);
    EXPECT_NE(library.error().message().find("/nowhere/patchbay-bell.so"), std::string::npos) << library.error().message();
}

}  // namespace
}  // namespace patchbay::kernel
