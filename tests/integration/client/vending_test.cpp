// Proved: the vending machine fleet's books balance in the evening although services are killed on the way.
// How: the day of sdk/examples/vending against a broker with each store, or a cluster named by the environment.
// Left to others: what each service uses (the tests beside this one).
#include "ClientFixture.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <sys/wait.h>

namespace patchbay::test {
namespace {

class Vending : public ClientFixture {};

TEST_P(Vending, TheBooksBalance) {
    const auto command = PATCHBAY_SOURCE_DIR "/sdk/examples/vending/day.sh " PATCHBAY_BUILD_DIR "/vending " + options().nameServers + " 100 2>&1";
    std::string output;
    std::FILE* pipe = ::popen(command.c_str(), "r");
    ASSERT_NE(pipe, nullptr);
    std::array<char, 512> line;
    while (std::fgets(line.data(), static_cast<int>(line.size()), pipe) != nullptr) output += line.data();
    const int status = ::pclose(pipe);
    EXPECT_EQ(WEXITSTATUS(status), 0) << output;
    EXPECT_NE(output.find("the books balance"), std::string::npos) << output;
}

PATCHBAY_ON_EACH_STORE(Vending);

}  // namespace
}  // namespace patchbay::test
