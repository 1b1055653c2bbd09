// Proved: bytes that end a connection at a Java server end it here, the others do not, and no other connection notices.
// How: every recorded malformed stream against a server on the loopback, with a second connection beside it.
// Left to others: what processors answer to odd headers (their own tests).
#include "integration/server/ServerFixture.h"

#include <rapidjson/document.h>

#include <fstream>

namespace patchbay::kernel {
namespace {

std::string fromBase64(std::string_view text) {
    static constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    std::uint32_t bits = 0;
    int count = 0;
    for (const char c : text) {
        const auto digit = kDigits.find(c);
        if (digit == std::string_view::npos) break;
        bits = (bits << 6) | static_cast<std::uint32_t>(digit);
        count += 6;
        if (count >= 8) {
            count -= 8;
            out += static_cast<char>((bits >> count) & 0xFF);
        }
    }
    return out;
}

class MalformedTest : public ServerFixture {
protected:
    void SetUp() override { start(); }
};

TEST_F(MalformedTest, RecordedStreamsCloseAsTheyDidAndDisturbNobody) {
    const auto succeed = [](plugin::Request r) { std::move(r).respond(ResponseCode::Success); };
    serve(30, succeed, {"broker"});
    for (const auto code : {105, 103, 100}) serve(code, succeed, {"namesrv"});
    TestClient bystander(ports[0]);
    std::ifstream file(PATCHBAY_TEST_DATA "/golden/frames/malformed.jsonl");
    ASSERT_TRUE(file);
    int cases = 0;
    for (std::string line; std::getline(file, line); ++cases) {
        rapidjson::Document recorded;
        recorded.Parse(line.c_str(), line.size());
        ASSERT_FALSE(recorded.HasParseError());
        SCOPED_TRACE(std::string(recorded["id"].GetString()) + " at " + recorded["server"].GetString());
        const bool broker = std::string_view(recorded["server"].GetString()) == "broker";
        const bool closed = recorded["closed"].GetBool();
        TestClient client(ports[broker ? 0 : 1]);
        client.send(fromBase64(recorded["sent"].GetString()));
        if (closed) {
            EXPECT_TRUE(client.closedByServer());
        } else if (recorded["then_probe"].GetBool()) {
            client.send(request(9999, 4242));
            // The same frames, by opaque, as the recording has, except numbers that the server chose.
            for (const auto& text : recorded["received_text"].GetArray()) {
                const auto answer = client.receive();
                ASSERT_TRUE(answer);
                rapidjson::Document head;
                head.Parse(text.GetString());
                if (std::string_view(recorded["id"].GetString()) == "P-opaque-missing" && answer->opaque != 4242) continue;
                EXPECT_EQ(answer->opaque, head["opaque"].GetInt());
                if (head["code"].GetInt() == 3) {
                    EXPECT_EQ(answer->remark, head["remark"].GetString());
                }
            }
        }
        EXPECT_EQ(bystander.call(request(30, cases)).opaque, cases);
    }
    EXPECT_GT(cases, 100);
}

TEST_F(MalformedTest, OneLineSaysWhoMayHaveCalledByMistake) {
    for (const auto& [bytes, cause] : std::vector<std::pair<std::string, std::string>>{
             {"GET / HTTP/1.1\r\n\r\n", "HTTP request"},
             {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "gRPC"},
             {"\x16\x03\x01", "TLS"}}) {
        log.clear();
        TestClient client(ports[0]);
        client.send(bytes);
        EXPECT_TRUE(client.closedByServer());
        EXPECT_TRUE(log.contains(cause)) << cause;
        EXPECT_EQ(log.count(plugin::LogLevel::Warn), 1U);
    }
}

}  // namespace
}  // namespace patchbay::kernel
