// Recorded pairs of requests and answers, replayed against plugins.
#pragma once

#include "patchbay/base/Assert.h"
#include "patchbay/protocol/RemotingCommand.h"
#include "patchbay/protocol/json/Value.h"
#include "patchbay/testkit/FakeContext.h"

#include <gtest/gtest.h>

#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace patchbay::recorded {

struct Pair {
    std::string where;
    std::string role;
    protocol::RemotingCommand request;
    std::optional<protocol::RemotingCommand> response;
};

/// A service that a plugin under test must have published.
template <typename T>
T& provided(testkit::FakeContext& context) {
    T* service = context.services().find<T>();
    PATCHBAY_ASSERT(service != nullptr);
    return *service;
}

inline std::string readText(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    EXPECT_TRUE(file.good()) << path;
    std::ostringstream text;
    text << file.rdbuf();
    return std::move(text).str();
}

inline void writeText(const std::string& path, std::string_view text) {
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file << text;
    ASSERT_TRUE(file.good()) << path;
}

inline std::string fromBase64(std::string_view text) {
    static constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    std::uint32_t bits = 0;
    int have = 0;
    for (const char c : text) {
        const std::size_t digit = kDigits.find(c);
        if (digit == std::string_view::npos) break;
        bits = (bits << 6) | static_cast<std::uint32_t>(digit);
        have += 6;
        if (have < 8) continue;
        have -= 8;
        out += static_cast<char>((bits >> have) & 0xFFU);
    }
    return out;
}

/// All pairs of a recorded scenario, in order.
inline std::vector<Pair> pairs(const std::string& scenario) {
    std::vector<Pair> all;
    std::ifstream file(std::string(PATCHBAY_TEST_DATA) + "/golden/frames/" + scenario + ".jsonl");
    EXPECT_TRUE(file.good()) << scenario;
    for (std::string line; std::getline(file, line);) {
        const auto document = json::Document::parse(line);
        EXPECT_TRUE(document) << scenario;
        const json::Value root = document->root();
        auto request = protocol::RemotingCommand::decode(fromBase64(root["request"].string().value_or("")));
        EXPECT_TRUE(request) << scenario;
        Pair pair;
        pair.where = scenario + " " + root["seq"].text().value_or("?");
        pair.role = root["role"].string().value_or("");
        pair.request = std::move(*request);
        if (const auto frame = root["response"].string()) {
            auto response = protocol::RemotingCommand::decode(fromBase64(*frame));
            EXPECT_TRUE(response) << pair.where;
            pair.response = std::move(*response);
        }
        all.push_back(std::move(pair));
    }
    return all;
}

/// Sends a recorded request and compares the answer with the recorded one: code, remark (unless it is a Java exception's),
/// fields and body.
inline void expectSameAnswer(testkit::FakeContext& context, const Pair& pair) {
    SCOPED_TRACE(pair.where);
    auto call = context.send(pair.request);
    ASSERT_TRUE(call.answered());
    const protocol::RemotingCommand ours = call.response();
    const protocol::RemotingCommand& theirs = *pair.response;
    EXPECT_EQ(ours.code, theirs.code);
    if (theirs.remark.value_or("").find("Exception") != std::string::npos) {
        EXPECT_FALSE(ours.remark.value_or("").empty()) << "a refusal says why";
        return;
    }
    EXPECT_EQ(ours.remark.value_or(""), theirs.remark.value_or(""));
    EXPECT_EQ(ours.fields, theirs.fields);
    EXPECT_EQ(ours.hasFields, theirs.hasFields);
    EXPECT_EQ(ours.body, theirs.body);
}

}  // namespace patchbay::recorded
