// Proves: what docs/storage-sqlite-schema.md says of backup and restore, to the letter: a copy of the database is the whole broker, with topics,
// groups, offsets and messages, and the next copy of the restored one is, too.
// How: the page's own lines, with the paths of two brokers. Left to others: what is put back and what not (unit/plugins/storage-sqlite).
#include "PatchctlFixture.h"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sqlite3.h>
#include <vector>

namespace patchbay::test {
namespace {

/// The lines between ``` of the section, a string each.
std::vector<std::string> recipe() {
    std::ifstream page(std::string(PATCHBAY_SOURCE_DIR) + "/docs/storage-sqlite-schema.md");
    std::vector<std::string> blocks;
    bool section = false;
    bool block = false;
    for (std::string line; std::getline(page, line);) {
        if (line.starts_with("## ")) section = line == "## Backup and restore";
        if (!section) continue;
        if (line.starts_with("```")) {
            block = !block;
            if (block) blocks.emplace_back();
        } else if (block) {
            blocks.back() += line + "\n";
        }
    }
    return blocks;
}

class Restore : public PatchctlFixture {
protected:
    static void SetUpTestSuite() {}
    static void TearDownTestSuite() {}

    static std::unique_ptr<BrokerProcess> broker() {
        return std::make_unique<BrokerProcess>("service.patchbay.MessageStore = storage-sqlite\nsqliteCleanInterval = 100\nflushConsumerOffsetInterval = 100\nflushConsumerOffsetInitialDelay = 100\n");
    }
    static void start(BrokerProcess& process) {
        ASSERT_TRUE(process.start()) << process.output();
        broker_ = &process;
        // The broker listens before the name server knows it.
        int tries = 0;
        while (shell("topic create Ready" + std::to_string(process.pid())).exit != 0) ASSERT_LT(++tries, 200) << process.output();
    }
    void run(std::string lines, const BrokerProcess& process) {
        const auto replace = [&](const std::string& from, const std::string& to) {
            for (auto at = lines.find(from); at != std::string::npos; at = lines.find(from, at + to.size())) lines.replace(at, from.size(), to);
        };
        replace("/backup", backups_.path());
        replace("/var/lib/patchbay/store", process.folder() / "store");
        replace("patchctl ", std::string(PATCHBAY_BUILD_DIR) + "/bin/patchctl ");
        ASSERT_EQ(std::system(lines.c_str()), 0) << lines;
    }
    /// Until the copy in the database has what config/ has.
    static void awaitCopy(const BrokerProcess& process, const std::string& name, const std::string& text) {
        sqlite3* database = nullptr;
        ASSERT_EQ(sqlite3_open_v2((process.folder() / "store/sqlite/messages.db").c_str(), &database, SQLITE_OPEN_READONLY, nullptr), SQLITE_OK);
        sqlite3_busy_timeout(database, 5'000);
        // A file, or the journal that continues it.
        const std::string ask = "SELECT 1 FROM config_files WHERE name LIKE '" + name + "%' AND text LIKE '%" + text + "%'";
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        int rows = 0;
        const auto count = [](void* to, int, char**, char**) { return ++*static_cast<int*>(to), 0; };
        while (rows == 0 && std::chrono::steady_clock::now() < deadline) sqlite3_exec(database, ask.c_str(), count, &rows, nullptr);
        sqlite3_close(database);
        ASSERT_GT(rows, 0) << name;
    }
    static void expectEverything(int messages) {
        std::string text;
        done("topic show Kept");
        const auto groups = parsed("group list", text);
        EXPECT_EQ(row(groups, "group", "KeptGroup")["retryMax"].integer().value_or(0), 5) << text;
        const auto offsets = parsed("offset show KeptGroup --topic Kept", text);
        EXPECT_EQ(row(offsets, "topic", "Kept")["committed"].integer().value_or(-1), 1) << text;
        EXPECT_EQ(row(offsets, "topic", "Kept")["end"].integer().value_or(-1), messages) << text;
        EXPECT_NE(done("message get Kept --key k1").find("the body"), std::string::npos);
    }

    TempFolder backups_;
};

// One store: it is about the database that holds the whole broker.
TEST_F(Restore, ACopyOfTheDatabaseIsTheWholeBroker) {
    const auto blocks = recipe();
    ASSERT_EQ(blocks.size(), 2U);
    auto first = broker();
    start(*first);
    done("topic create Kept --queues 1");
    done("group create KeptGroup --retry-max 5");
    done("message send Kept --body 'the body' --keys k1 --count 3");
    done("offset reset KeptGroup --topic Kept --to 1 --queue 0");
    awaitCopy(*first, "topics.json", "\"Kept\"");
    awaitCopy(*first, "subscriptionGroup.json", "\"KeptGroup\"");
    awaitCopy(*first, "consumerOffset.json", "Kept@KeptGroup");
    run(blocks[0], *first);
    first->stop(SIGKILL);

    // A copy of the copy is worth as much.
    for (int generation = 0; generation < 2; ++generation) {
        SCOPED_TRACE(generation);
        auto next = broker();
        run(blocks[1], *next);
        start(*next);
        EXPECT_TRUE(next->awaitOutput("put back from the database"));
        expectEverything(3 + generation);
        done("message send Kept --body more");
        std::filesystem::remove(backups_ / "messages.db");
        run(blocks[0], *next);
        EXPECT_EQ(next->stop(SIGTERM), 0) << next->output();
    }
    broker_ = nullptr;
}

}  // namespace
}  // namespace patchbay::test
