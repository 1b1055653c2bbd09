// Proved: what docs/client.md shows is built: the quick starts as whole programs, the rest as parts of the examples.
// How: the text of one is looked for in the other.
// Left to others: running them (sdk/examples).
#include <gtest/gtest.h>

#include <filesystem>
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

TEST(TheClientsPage, ShowsLinesOfProgramsThatAreBuilt) {
    std::string programs;
    for (const auto& file : std::filesystem::directory_iterator(PATCHBAY_SOURCE_DIR "/sdk/examples/client")) {
        if (file.path().extension() == ".cpp") programs += textOf("sdk/examples/client/" + file.path().filename().string());
    }
    const auto page = textOf("docs/client.md");
    const std::string fence = "```cpp\n";
    int blocks = 0;
    for (auto at = page.find(fence); at != std::string::npos; at = page.find(fence, at + 1)) {
        const auto begin = at + fence.size();
        const auto block = page.substr(begin, page.find("```", begin) - begin);
        EXPECT_NE(programs.find(block), std::string::npos) << block;
        ++blocks;
    }
    EXPECT_GT(blocks, 3);
}

}  // namespace
}  // namespace patchbay::test
