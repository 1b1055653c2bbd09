// Proves: whatever the store, what docs/protocol.md says is served is what the broker's plugins bind, no more and no less; every code that mqadmin
// 5.3.3 sends is served or named in docs/compatibility.md, and then answered 3 at once; what the store has no files for is refused as such.
// How: the built broker with the plugins of etc/, asked for its plugins and for each code. Left to others: what the answers hold.
#include "support/BrokerProcess.h"
#include "support/RawClient.h"
#include "support/Stores.h"

#include "patchbay/protocol/PrivateCode.h"
#include "patchbay/protocol/json/Value.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

namespace patchbay::test {
namespace {

using protocol::RequestCode;
using Codes = std::set<std::pair<std::string, int>>;   // listener and code

constexpr int kUnsupported = 3;
/// What `control` binds on every listener stands in a table of its own.
constexpr int kControlFrom = 29'000;
constexpr int kControlTo = 29'099;

// By the commands of mqadmin 5.3.3, in the order of their codes.
constexpr int kAskedOfBrokers[] = {10,  11,  12,  15,  17,   18,   21,   25,   26,   28,   29,   30,   31,   33,   34,   35,   200,  201,  202,  203,
                                   204, 207, 208, 215, 222,  225,  300,  305,  306,  307,  309,  310,  315,  316,  317,  321,  328,  329,  351,  354,
                                   355, 401, 513, 902, 903,  907,  908,  1007, 2001, 2002, 2003, 2004, 3001, 3002, 3003, 3004, 3005, 3006, 3007, 3008,
                                   3009, 3010, 200056};
constexpr int kAskedOfNameServers[] = {100, 101, 102, 105, 106, 205, 206, 216, 318, 319, 327, 1002, 1005, 1006, 1009, 1010, 1011};

std::string document(const std::string& name) {
    std::ifstream file(std::string(PATCHBAY_SOURCE_DIR) + "/docs/" + name);
    std::ostringstream all;
    all << file.rdbuf();
    return all.str();
}

/// The rows of the tables under "### Listener `…`".
Codes documented() {
    Codes codes;
    std::istringstream lines(document("protocol.md"));
    std::string listener;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("#")) listener = line.starts_with("### Listener `") ? line.substr(14, line.rfind('`') - 14) : std::string();
        if (listener.empty() || !line.starts_with("| ")) continue;
        if (const int code = std::atoi(line.c_str() + 2); code > 0) codes.emplace(listener, code);
    }
    return codes;
}

/// Whether the table of what is missing names the code, alone or in a range "A to B".
bool isMissing(const std::string& table, int code) {
    for (std::size_t at = 0; at < table.size();) {
        if (table[at] < '0' || table[at] > '9') {
            ++at;
            continue;
        }
        char* end = nullptr;
        const long first = std::strtol(table.c_str() + at, &end, 10);
        long last = first;
        if (std::string_view(end).starts_with(" to ")) last = std::strtol(end + 4, &end, 10);
        if (first <= code && code <= last) return true;
        at = static_cast<std::size_t>(end - table.c_str());
    }
    return false;
}

class CodesTest : public OnEachStore {
protected:
    void SetUp() override { ASSERT_TRUE(broker_.start()) << broker_.output(); }

    [[nodiscard]] Result<protocol::RemotingCommand> ask(RequestCode code) const {
        RawClient client(broker_.brokerPort());
        return client.call(protocol::RemotingCommand::request(code));
    }

    BrokerProcess broker_{onStore(GetParam())};
};

TEST_P(CodesTest, AreDocumentedAsTheyAreBound) {
    RawClient client(broker_.brokerPort());
    const auto answer = client.call(protocol::RemotingCommand::request(static_cast<RequestCode>(protocol::PrivateCode::ListPlugins)));
    ASSERT_TRUE(answer) << answer.error().toString();
    const auto plugins = json::Document::parse(answer->body);
    ASSERT_TRUE(plugins);
    Codes bound;
    for (const auto plugin : plugins->root()["plugins"]) {
        for (const auto code : plugin.value["codes"]) {
            const auto number = static_cast<int>(code.value["code"].integer().value_or(0));
            if (number < kControlFrom || number > kControlTo) bound.emplace(code.value["listener"].text().value_or(""), number);
        }
    }
    EXPECT_GT(bound.size(), 80U);
    EXPECT_EQ(documented(), bound);
}

TEST_P(CodesTest, ThatToolsSendAreServedOrNamedAsMissing) {
    const std::string text = document("compatibility.md");
    const std::string table = text.substr(text.find("| feature that is not there"));
    const Codes served = documented();
    const auto check = [&](const std::string& listener, std::uint16_t port, int code) {
        if (served.contains({listener, code})) {
            EXPECT_FALSE(isMissing(table, code)) << code;
            return;
        }
        EXPECT_TRUE(isMissing(table, code)) << code << " is neither served nor named";
        RawClient client(port);
        const auto answer = client.call(protocol::RemotingCommand::request(static_cast<RequestCode>(code)));
        ASSERT_TRUE(answer) << code;
        EXPECT_EQ(answer->code, kUnsupported) << code;
        EXPECT_EQ(answer->remark.value_or(""), " request type " + std::to_string(code) + " not supported");
    };
    for (const int code : kAskedOfBrokers) check("broker", broker_.brokerPort(), code);
    for (const int code : kAskedOfNameServers) check("namesrv", broker_.namesrvPort(), code);
}

TEST_P(CodesTest, OfCleanUpsAreDoneOrRefusedAsTheStoreHasFiles) {
    for (const auto code : {RequestCode::CleanUnusedTopic, RequestCode::DeleteExpiredCommitlog}) {
        const auto answer = ask(code);
        ASSERT_TRUE(answer) << answer.error().toString();
        EXPECT_EQ(answer->code, 0) << answer->remark.value_or("");
    }
    const auto answer = ask(RequestCode::CleanExpiredConsumequeue);
    ASSERT_TRUE(answer) << answer.error().toString();
    const bool files = std::string_view(GetParam()) == "storage-mmap";
    EXPECT_EQ(answer->code, files ? 0 : kUnsupported) << answer->remark.value_or("");
    EXPECT_EQ(answer->remark.value_or("").find("not supported by this store (sqlite)") != std::string::npos, !files) << answer->remark.value_or("");
}

PATCHBAY_ON_EACH_STORE(CodesTest);

}  // namespace
}  // namespace patchbay::test
