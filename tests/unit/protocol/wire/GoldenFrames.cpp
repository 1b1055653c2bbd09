#include "GoldenFrames.h"

#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace patchbay::protocol::golden {

namespace {

using Lines = std::function<void(const rapidjson::Document&, const std::string& where)>;

void forEachLine(const std::filesystem::path& file, const Lines& visit) {
    std::ifstream in(file);
    std::string line;
    for (int number = 1; std::getline(in, line); ++number) {
        rapidjson::Document json;
        json.Parse(line.data(), line.size());
        ASSERT_TRUE(json.IsObject()) << file << ':' << number;
        visit(json, file.filename().string() + ':' + std::to_string(number));
    }
}

std::filesystem::path folder() {
    return std::filesystem::path(PATCHBAY_TEST_DATA) / "golden" / "frames";
}

}  // namespace

std::string decodeBase64(std::string_view text) {
    static constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string bytes;
    std::uint32_t bits = 0;
    int count = 0;
    for (const char c : text) {
        const std::size_t digit = kAlphabet.find(c);
        if (digit == std::string_view::npos) continue;
        bits = bits << 6 | static_cast<std::uint32_t>(digit);
        count += 6;
        if (count >= 8) {
            count -= 8;
            bytes.push_back(static_cast<char>(static_cast<unsigned char>(bits >> count)));
        }
    }
    return bytes;
}

void forEachFrame(const std::function<void(const Frame&)>& visit) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder())) {
        if (entry.path().extension() == ".jsonl" && entry.path().stem() != "malformed") files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    ASSERT_FALSE(files.empty()) << "no recorded frames in " << folder();
    for (const auto& file : files) {
        forEachLine(file, [&](const rapidjson::Document& json, const std::string& where) {
            Frame frame;
            frame.requestCode = json["code"].GetInt();
            if (json["response_code"].IsInt()) frame.answerCode = json["response_code"].GetInt();
            frame.where = where + " request";
            frame.response = false;
            frame.binary = std::string_view(json["encoding"].GetString()) == "ROCKETMQ";
            frame.bytes = decodeBase64(json["request"].GetString());
            frame.header = json["request_header"].GetString();
            visit(frame);
            if (!json["response"].IsString() || !json["response_header"].IsString()) return;
            frame.where = where + " response";
            frame.response = true;
            frame.binary = std::string_view(json["response_encoding"].GetString()) == "ROCKETMQ";
            frame.bytes = decodeBase64(json["response"].GetString());
            frame.header = json["response_header"].GetString();
            visit(frame);
        });
    }
}

std::vector<Malformed> malformedCases() {
    std::vector<Malformed> cases;
    forEachLine(folder() / "malformed.jsonl", [&](const rapidjson::Document& json, const std::string&) {
        cases.push_back({std::string(json["id"].GetString()) + ' ' + json["server"].GetString(),
                         decodeBase64(json["sent"].GetString()), json["closed"].GetBool(),
                         static_cast<std::size_t>(json["received"].Size()), json["then_probe"].GetBool()});
    });
    return cases;
}

}  // namespace patchbay::protocol::golden
