// Proves: bytes sent in error or malice, on either port, cost their sender the connection and nobody else anything.
// How: a real process with all plugins; after each attack it must be alive, serve within a second, be no fatter and hold no socket.
// Left to others: every recorded malformed stream (integration/server), parsers alone (fuzz), what plugins refuse (attack_send_test.cpp).
#include "e2e/AttackFixture.h"

#include <csignal>

namespace patchbay::test {
namespace {

class AttackWire : public AttackFixture {
protected:
    std::vector<std::unique_ptr<RawClient>> connectMany(std::size_t count, std::uint16_t port) const {
        std::vector<std::unique_ptr<RawClient>> clients;
        for (std::size_t i = 0; i < count; ++i) clients.push_back(std::make_unique<RawClient>(port));
        return clients;
    }
    /// The server must close; answers on the way are allowed.
    static void expectClosed(RawClient& client, std::string_view what) {
        for (auto answer = client.receive();; answer = client.receive()) {
            if (answer) continue;
            EXPECT_EQ(answer.error().code(), StatusCode::Unavailable) << what;
            return;
        }
    }
};

TEST_P(AttackWire, BinaryHeadersThatLieAboutTheirRemarkAreRefusedAndAGoodClientNoticesNothing) {
    for (const auto port : bothPorts()) {
        RawClient good(broker_.brokerPort(), 2s);
        for (int round = 0; round < 10; ++round) {
            auto bad = connectMany(20, port);
            for (std::size_t i = 0; i < bad.size(); ++i) {
                const std::uint32_t lies[] = {0x7FFFFFFF, 0xFFFFFFFF, 22};
                const std::string head = std::string("\0\x0A\0\1\0", 5) + number(1) + number(0) + number(lies[i % 3]) + number(0);
                ASSERT_TRUE(bad[i]->send(rawFrame(head, SerializeType::Binary)));
            }
            const auto answer = good.call(sendCommand("Attacked", "good"));
            ASSERT_TRUE(answer);
            EXPECT_EQ(answer->code, 0);
            for (auto& one : bad) expectClosed(*one, "a lying remark");
        }
    }
}

TEST_P(AttackWire, ACodeThatABinaryHeaderCutIsNotTakenForAnother) {
    const auto whole = call(command(200050));
    ASSERT_TRUE(whole);
    EXPECT_NE(whole->remark.value_or("").find(whole->code == 3 ? "200050" : ""), std::string::npos);
    RawClient client(broker_.brokerPort());
    const std::string head = std::string("\x0D\x72\0\1\0", 5) + number(7) + number(0) + number(0) + number(0);
    ASSERT_TRUE(client.send(rawFrame(head, SerializeType::Binary)));
    const auto cut = client.receive();
    ASSERT_TRUE(cut);
    EXPECT_EQ(cut->code, 3);
    EXPECT_NE(cut->remark.value_or("").find("3442"), std::string::npos);
}

TEST_P(AttackWire, OtherProtocolsAreClosedAtOnceAndNamedInTheLog) {
    const std::pair<std::string, std::string> foreign[] = {
        {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "gRPC"}, {"POST / HTTP/1.1\r\n\r\n", "HTTP request"}, {"GET / HTTP/1.1\r\n\r\n", "HTTP request"},
        {std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xFC\x03\x03", 11), "TLS"}, {std::string("\x10\x10\x00\x04MQTT\x04", 9), "no remoting frame"},
        {"*1\r\n$4\r\nPING\r\n", "no remoting frame"}, {"SSH-2.0-OpenSSH\r\n", "no remoting frame"}, {std::string(70'000, '\xFF'), "no remoting frame"}};
    for (const auto port : bothPorts()) {
        for (const auto& [bytes, name] : foreign) {
            RawClient client(port, 2s);
            client.send(bytes);
            EXPECT_TRUE(client.closedByPeer()) << name;
        }
    }
    // The log is written beside the work, so its lines may come a little later.
    const auto end = std::chrono::steady_clock::now() + 10s;
    while (broker_.output().find("HTTP/2 or gRPC") == std::string::npos && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    EXPECT_NE(broker_.output().find("HTTP/2 or gRPC"), std::string::npos) << broker_.output();
}

TEST_P(AttackWire, AThousandConnectionsThatClaimTheLargestFrameCostWhatTheySent) {
    for (const auto port : bothPorts()) {
        const auto many = connectMany(500, port);
        for (const auto& one : many) ASSERT_TRUE(one->send(number((16U << 20) - 4) + "x"));
        expectServed();
        expectFlat();
    }
}

TEST_P(AttackWire, ImpossibleLengthsAreClosedWhateverFollows) {
    for (const auto port : bothPorts()) {
        for (const std::uint32_t length : {0U, 1U, 3U, 0x7FFFFFFFU, 0x80000000U, 0xFFFFFFFFU, (16U << 20) - 3}) {
            RawClient client(port, 2s);
            client.send(number(length) + std::string(64, '\0'));
            expectClosed(client, "length " + std::to_string(length));
        }
        for (const std::uint32_t header : {0x00FFFFFFU, 0x01FFFFFFU, 0x7F000002U, 0x00000009U}) {  // longer than the frame, or of no known kind
            RawClient client(port, 2s);
            client.send(number(8) + number(header) + "{}{}");
            expectClosed(client, "header " + std::to_string(header));
        }
    }
}

TEST_P(AttackWire, ABodyOfExactlyTheLargestFrameIsReadAndMemoryComesBack) {
    auto large = command(9999);
    large.body.assign((16U << 20) - 300, 'x');
    for (int round = 0; round < 4; ++round) {
        const auto answer = call(large);
        ASSERT_TRUE(answer) << answer.error().toString();
        EXPECT_EQ(answer->code, 3);
    }
}

TEST_P(AttackWire, BytesThatTrickleInAreAnsweredAndNobodyWaitsForThem) {
    for (const auto port : bothPorts()) {
        const auto slow = connectMany(50, port);
        const auto bytes = frame(command(9999));
        for (const char byte : bytes) {
            for (const auto& one : slow) ASSERT_TRUE(one->send({&byte, 1}));
        }
        expectServed();
        for (const auto& one : slow) {
            const auto answer = one->receive();
            ASSERT_TRUE(answer);
            EXPECT_EQ(answer->code, 3);
        }
    }
}

TEST_P(AttackWire, AThousandSilentAndHalfSpokenConnectionsLeaveNothingBehind) {
    for (int round = 0; round < 2; ++round) {
        for (const auto port : bothPorts()) {
            const auto silent = connectMany(250, port);
            const auto half = connectMany(250, port);
            const auto bytes = frame(command(10));
            for (std::size_t i = 0; i < half.size(); ++i) ASSERT_TRUE(half[i]->send(std::string_view(bytes).substr(0, 1 + i % (bytes.size() - 1))));
            expectServed();
        }
    }
}

TEST_P(AttackWire, JsonBombsAreRefused) {
    std::string fields;
    std::string same;
    for (int i = 0; i < 100'000; ++i) {
        fields += (i == 0 ? "\"k" : ",\"k") + std::to_string(i) + "\":\"v\"";
        same += i == 0 ? "\"topic\":\"v\"" : ",\"topic\":\"v\"";
    }
    const std::string deep(2'000'000, '[');
    const std::string objects = [] {
        std::string text;
        for (int i = 0; i < 500'000; ++i) text += "{\"a\":";
        return text;
    }();
    const std::string start = "{\"code\":105,\"opaque\":1,\"extFields\":";
    const std::pair<std::string, std::string> bombs[] = {
        {"arrays", start + deep}, {"objects", start + objects}, {"deep unknown key", "{\"code\":105,\"x\":" + deep}, {"bare", deep},
        {"100000 fields", start + "{" + fields + "}}"}, {"100000 times one field", start + "{" + same + "}}"},
        {"a number of a million digits", "{\"opaque\":" + std::string(1'000'000, '9') + "}"},
        {"a string without end", "{\"remark\":\"" + std::string(1'000'000, 'r')}, {"escapes", "{\"remark\":\"" + std::string(999'999, '\\')},
        {"half a surrogate", "{\"remark\":\"\\uD800\"}"}, {"not UTF-8", "{\"remark\":\"\xFF\xFE\"}"}};
    for (const auto port : bothPorts()) {
        for (const auto& [name, bomb] : bombs) {
            // Closed or answered; what the others see is the point.
            RawClient client(port, 2s);
            client.send(rawFrame(bomb));
            (void)client.receive();
            RawClient bystander(port, 1s);
            EXPECT_TRUE(bystander.call(command(9999))) << name;
            expectFlat();
        }
    }
}

TEST_P(AttackWire, BodiesThatAreJsonBombsAreRefusedByWhoeverReadsThem) {
    const std::string deep(15U << 20, '[');
    for (const auto& [port, code] : {std::pair{broker_.brokerPort(), 34}, {broker_.brokerPort(), 41}, {broker_.brokerPort(), 18},
                                     {broker_.brokerPort(), 46}, {broker_.brokerPort(), 200}, {broker_.namesrvPort(), 103},
                                     {broker_.namesrvPort(), 217}}) {
        for (const auto& body : {deep, std::string(15U << 20, ' '), std::string("{\"clientID\":\"") + std::string(15U << 20, 'c') + "\"}", std::string()}) {
            RawClient client(port, 5s);
            const auto answer = client.call(command(code, {{"topic", "T"}, {"brokerName", "b"}, {"brokerAddr", "127.0.0.1:1"},
                                                           {"clusterName", "c"}, {"haServerAddr", ""}, {"brokerId", "0"}}, body));
            EXPECT_TRUE(answer) << code << " " << answer.error().toString();
            expectServed();
        }
    }
}

TEST_P(AttackWire, ManyHugeHeartbeatsDoNotStayInMemory) {
    std::string producers;
    for (int i = 0; i < 200'000; ++i) producers += (i == 0 ? "{\"groupName\":\"" : ",{\"groupName\":\"") + std::string("bombed") + std::to_string(i) + "\"}";
    const auto body = "{\"clientID\":\"c@1\",\"consumerDataSet\":[],\"producerDataSet\":[" + producers + "]}";
    {
        RawClient client(broker_.brokerPort());
        for (int i = 0; i < 3; ++i) EXPECT_TRUE(client.call(command(34, {}, body)));
        expectServed();
    }
}

TEST_P(AttackWire, RouteQuestionsWithHugeTopicNamesAreRefused) {
    const std::string topic(1U << 20, 't');
    RawClient client(broker_.namesrvPort(), 5s);
    for (int i = 0; i < 10; ++i) {
        const auto answer = client.call(command(105, {{"topic", topic}}));
        ASSERT_TRUE(answer);
        EXPECT_NE(answer->code, 0);
        EXPECT_LT(answer->remark.value_or("").size(), topic.size() + 4096);
    }
}

TEST_P(AttackWire, OneWayFloodsAreServedOrDroppedAndOthersAreAnswered) {
    for (const auto port : bothPorts()) {
        std::string flood;
        for (int i = 0; i < 2'000; ++i) {
            auto one = i % 2 == 0 ? command(9999) : command(34, {}, "{}");
            one.flag = protocol::kFlagOneway;
            flood += frame(one);
        }
        RawClient client(port);
        std::thread sender([&] { for (int i = 0; i < 25; ++i) EXPECT_TRUE(client.send(flood)); });
        for (int i = 0; i < 5; ++i) expectServed();
        sender.join();
        const auto answer = client.call(command(9998));  // nothing came before it
        ASSERT_TRUE(answer);
        EXPECT_EQ(answer->code, 3);
    }
}

TEST_P(AttackWire, AClientThatAsksForMuchAndReadsNothingIsHeldBack) {
    for (int i = 0; i < 8; ++i) ASSERT_EQ(send("Fat", std::string(200'000, 'f'))->code, 0);
    const auto question = frame(pullCommand("Fat"));
    std::string questions;
    for (int i = 0; i < 2'000; ++i) questions += question;
    // The broker stops reading, so the client's sends end by their time limit.
    std::vector<std::unique_ptr<RawClient>> lazy;
    for (int i = 0; i < 4; ++i) {
        lazy.push_back(std::make_unique<RawClient>(broker_.brokerPort(), 200ms));
        for (int n = 0; n < 3 && lazy.back()->send(questions); ++n) {}
    }
    expectServed();
    expectFlat();
}

TEST_P(AttackWire, ConnectionsThatEndInTheMiddleOfAFrameOrOfAnAnswerLeaveNothing) {
    for (int i = 0; i < 4; ++i) ASSERT_EQ(send("Cut", std::string(200'000, 'f'))->code, 0);
    const auto question = frame(pullCommand("Cut"));
    const auto sending = frame(sendCommand("Cut", std::string(100'000, 'x')));
    for (int i = 0; i < 300; ++i) {
        RawClient client(broker_.brokerPort());
        client.send(i % 2 == 0 ? std::string_view(question) : std::string_view(sending).substr(0, static_cast<std::size_t>(i) * 300));
    }
}

PATCHBAY_ON_EACH_STORE(AttackWire);

}  // namespace
}  // namespace patchbay::test
