// PatchctlFixture: a broker and name server in one process, and the patchctl that was built.
#pragma once

#include "support/BrokerProcess.h"
#include "support/RawClient.h"
#include "support/Stores.h"

#include "patchbay/protocol/json/Value.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <deque>
#include <string>
#include <sys/wait.h>

namespace patchbay::test {

/// One broker for all tests of a suite: each test has topics and groups of its own.
class PatchctlFixture : public ::testing::Test {
protected:
    struct Ran {
        int exit = -1;
        std::string out;   ///< standard output and error
    };

    static void SetUpTestSuite() { startBroker("storage-mmap"); }
    static void startBroker(const std::string& store) {
        broker_ = new BrokerProcess(onStore(store));
        ASSERT_TRUE(broker_->start()) << broker_->output();
        // The broker listens before the name server knows it.
        int tries = 0;
        while (shell("topic create Ready").exit != 0) ASSERT_LT(++tries, 200) << broker_->output();
    }
    static void TearDownTestSuite() {
        EXPECT_EQ(broker_->stop(SIGTERM), 0) << broker_->output();
        delete broker_;
        broker_ = nullptr;
    }

    /// Runs a line of a shell with patchctl in front of it.
    static Ran shell(const std::string& line) {
        Ran ran;
        const std::string command = "NAMESRV_ADDR=127.0.0.1:" + std::to_string(broker_->namesrvPort()) + " timeout 60 " +
                                    std::string(PATCHBAY_BUILD_DIR) + "/bin/patchctl " + line + " 2>&1";
        FILE* pipe = popen(command.c_str(), "r");
        if (pipe == nullptr) return ran;
        std::array<char, 4096> buffer{};
        for (std::size_t got = 0; (got = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) ran.out.append(buffer.data(), got);
        const int status = pclose(pipe);
        ran.exit = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        return ran;
    }
    /// The same where success is expected.
    static std::string done(const std::string& line) {
        const auto ran = shell(line);
        EXPECT_EQ(ran.exit, 0) << line << "\n" << ran.out;
        return ran.out;
    }
    /// The JSON that a successful command prints, parsed.
    static json::Document parsed(const std::string& line, std::string& text) {
        text = done(line + " --json");
        auto document = json::Document::parse(texts_.emplace_back(text));
        EXPECT_TRUE(document) << text;
        return document ? std::move(*document) : std::move(*json::Document::parse("null"));
    }
    /// The first row of a table whose member has that value.
    static json::Value row(const json::Document& document, std::string_view member, std::string_view value) {
        for (const auto item : document.root()) {
            if (item.value[member].text().value_or("") == value) return item.value;
        }
        return {};
    }

    static inline BrokerProcess* broker_ = nullptr;

private:
    static inline std::deque<std::string> texts_;   ///< what documents refer to
};

/// The same with the store that the parameter names; instantiated once a store, so that each has one broker for all tests.
class PatchctlOnStore : public PatchctlFixture, public ::testing::WithParamInterface<std::string> {
protected:
    static void SetUpTestSuite() {}  // knows no parameter
    void SetUp() override {
        if (broker_ == nullptr) startBroker(GetParam());
    }
};

}  // namespace patchbay::test
