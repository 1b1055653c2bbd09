// Recorded frames and stores for the tests of this folder.
#pragma once

#include "patchbay/protocol/json/Value.h"
#include "patchbay/protocol/util/BigEndian.h"
#include "patchbay/protocol/util/Compression.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::protocol::golden {

inline std::string readFile(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    EXPECT_TRUE(file.good()) << path;
    std::ostringstream text;
    text << file.rdbuf();
    return std::move(text).str();
}

inline std::filesystem::path dataFolder() {
    return std::filesystem::path(PATCHBAY_TEST_DATA) / "golden";
}

/// A file of the folder `store`, which are kept as zlib streams.
inline std::string readPacked(const std::string& name) {
    auto plain = decompress(CompressionType::Zlib, readFile(dataFolder() / "store" / name), std::size_t{16} << 20);
    EXPECT_TRUE(plain.has_value()) << name << ": " << plain.error().toString();
    return std::move(plain).value();
}

inline std::string fromBase64(std::string_view text) {
    std::string out;
    std::uint32_t bits = 0;
    int count = 0;
    for (const char c : text) {
        constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        const std::size_t digit = kDigits.find(c);
        if (digit == std::string_view::npos) break;
        bits = bits << 6 | static_cast<std::uint32_t>(digit);
        if (++count % 4 != 1) out.push_back(static_cast<char>(bits >> (6 - 2 * ((count - 1) % 4))));
    }
    return out;
}

/// One side of a recorded pair.
struct Body {
    std::string where;  ///< file and running number
    int code = 0;       ///< request code of the pair
    bool request = false;
    int responseCode = 0;
    std::string header;  ///< text of this side's header; binary headers as recorded
    std::string requestHeader;
    std::string body;
};

inline std::string bodyOf(std::string_view frame) {
    const auto headerBytes = static_cast<std::size_t>(loadI32(frame.data() + 4) & 0xFFFFFF);
    return std::string(frame.substr(8 + headerBytes));
}

/// Every body of every recorded frame that is not empty.
inline const std::vector<Body>& bodies() {
    static const std::vector<Body> all = [] {
        std::vector<Body> list;
        for (const auto& entry : std::filesystem::directory_iterator(dataFolder() / "frames")) {
            const std::string name = entry.path().filename().string();
            if (entry.path().extension() != ".jsonl" || name.starts_with("malformed")) continue;
            std::istringstream lines(readFile(entry.path()));
            for (std::string line; std::getline(lines, line);) {
                const auto document = json::Document::parse(line);
                EXPECT_TRUE(document.has_value()) << name << ": " << document.error().toString();
                const json::Value pair = document->root();
                for (const bool request : {true, false}) {
                    const auto frame = pair[request ? "request" : "response"].string();
                    if (!frame) continue;
                    Body side;
                    side.body = bodyOf(fromBase64(*frame));
                    if (side.body.empty()) continue;
                    side.where = name + " " + pair["seq"].text().value_or("") + (request ? " request" : " response");
                    side.code = static_cast<int>(pair["code"].integer().value_or(-1));
                    side.request = request;
                    side.responseCode = static_cast<int>(pair["response_code"].integer().value_or(-1));
                    side.requestHeader = pair["request_header"].text().value_or("");
                    side.header = request ? side.requestHeader : pair["response_header"].text().value_or("");
                    list.push_back(std::move(side));
                }
            }
        }
        std::sort(list.begin(), list.end(), [](const Body& a, const Body& b) { return a.where < b.where; });
        return list;
    }();
    return all;
}

inline std::vector<Body> bodies(int code, bool request) {
    std::vector<Body> list;
    std::copy_if(bodies().begin(), bodies().end(), std::back_inserter(list), [&](const Body& side) {
        return side.code == code && side.request == request && (request || side.responseCode == 0);
    });
    return list;
}

/// The value with the members of every object in alphabetical order.
inline std::string canonical(json::Value value) {
    if (const auto text = value.string()) return "'" + std::string(*text) + "'";
    if (value.isArray()) {
        std::string out = "[";
        for (const auto [key, element] : value)
            out += canonical(element) + ",";
        return out + "]";
    }
    if (value.isObject()) {
        std::multimap<std::string, std::string> members;
        for (const auto [key, element] : value)
            members.emplace(key, canonical(element));
        std::string out = "{";
        for (const auto& [key, text] : members)
            out += key + ":" + text + ",";
        return out + "}";
    }
    return value.text().value_or("null");
}

inline std::string sortedCharacters(std::string text) {
    std::sort(text.begin(), text.end());
    return text;
}

/// Equal but for the order of members: the same values, and the same characters in another order.
inline ::testing::AssertionResult sameButForOrder(const std::string& recorded, const std::string& ours) {
    if (recorded == ours) return ::testing::AssertionSuccess();
    const auto a = json::Document::parse(recorded);
    const auto b = json::Document::parse(ours);
    if (!a || !b) return ::testing::AssertionFailure() << "not JSON: " << recorded << " or " << ours;
    if (canonical(a->root()) != canonical(b->root())) {
        return ::testing::AssertionFailure() << "other values: recorded " << recorded << " ours " << ours;
    }
    if (sortedCharacters(recorded) != sortedCharacters(ours)) {
        return ::testing::AssertionFailure() << "other characters: recorded " << recorded << " ours " << ours;
    }
    return ::testing::AssertionSuccess();
}

/// Whether every value of `part` stands at its place in `whole`, which may say more.
inline bool isPartOf(json::Value part, json::Value whole) {
    if (part.isArray()) {
        auto other = whole.begin();
        if (part.size() != whole.size()) return false;
        for (const auto [key, element] : part) {
            if (!isPartOf(element, (*other).value)) return false;
            ++other;
        }
        return true;
    }
    if (!part.isObject()) return part.text() == whole.text();
    for (const auto [key, element] : part) {
        if (!isPartOf(element, whole[key])) return false;
    }
    return true;
}

/// For requests of clients that leave out what is not needed: all that they said is in what we write.
inline ::testing::AssertionResult isContained(const std::string& recorded, const std::string& ours) {
    const auto a = json::Document::parse(recorded);
    const auto b = json::Document::parse(ours);
    if (a && b && isPartOf(a->root(), b->root())) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << "recorded " << recorded << " ours " << ours;
}

}  // namespace patchbay::protocol::golden
