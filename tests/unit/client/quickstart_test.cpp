// Proved: the quick starts that docs/client.md shows are the programs that are built.
// How: the text of one is looked for in the other.
// Left to others: running them (sdk/examples).
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace patchbay::test {
namespace {

std::string textOf(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(std::string(PATCHBAY_SOURCE_DIR "/") + path).rdbuf();
    return text.str();
}

TEST(TheClientsPage, ShowsProgramsThatAreBuilt) {
    const auto page = textOf("docs/client.md");
    for (const auto* name : {"quickstart_producer", "quickstart_consumer"}) {
        const auto program = textOf(std::string("sdk/examples/client/") + name + ".cpp");
        ASSERT_FALSE(program.empty());
        EXPECT_NE(page.find("```cpp\n" + program + "```"), std::string::npos) << name;
    }
}

}  // namespace
}  // namespace patchbay::test
