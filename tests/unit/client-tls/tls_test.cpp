// Proved: a client talks to servers through TLS, in large pieces too; it trusts whom it was told to trust, shows its own certificate, says what is wrong
// otherwise, and waits without work, and not for ever, for a peer that says nothing.
// How: a relay with certificates made on the spot, in front of a scripted broker.
// Left to others: what is said inside (unit_client_remoting), other implementations of TLS (./dev interop).
#include "TlsRelay.h"
#include "unit/client/ScriptedBroker.h"

#include "patchbay/client/AdminClient.h"
#include "patchbay/client/Producer.h"
#include "patchbay/client/PushConsumer.h"
#include "patchbay/client/Tls.h"
#include "patchbay/testkit/TempDir.h"

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <ctime>
#include <fstream>
#include <future>

namespace patchbay::test {
namespace {

using namespace std::chrono_literals;
using client::TlsOptions;
using protocol::RemotingCommand;
using protocol::RequestCode;
using Decided = std::optional<std::optional<RemotingCommand>>;

class OverTls : public ::testing::Test {
protected:
    // A write to a connection that is gone must not need this.
    static void SetUpTestSuite() { std::signal(SIGPIPE, SIG_DFL); }

    std::string file(const std::string& name, const std::string& text) const {
        const auto path = folder_.path() + "/" + name;
        std::ofstream(path) << text;
        return path;
    }
    [[nodiscard]] client::ClientOptions through(const TlsRelay& relay, const TlsOptions& options) {
        relayed_ = relay.address();
        const auto security = client::tls(options);
        EXPECT_TRUE(security) << security.error().toString();
        client::ClientOptions made;
        made.nameServers = relay.address();
        made.security = security ? *security : nullptr;
        made.log = [](auto, auto) {};
        return made;
    }
    Result<client::SendReceipt> send(const client::ClientOptions& options, std::string body = "x", std::chrono::milliseconds timeout = 10s) {
        auto sender = client::Producer::create({.client = options, .group = "g", .sendTimeout = timeout, .compression = client::Compression::None});
        EXPECT_TRUE(sender);
        return sender->send({.topic = "T", .body = std::move(body)});
    }
    Decided decide(const RemotingCommand& asked) const {
        if (asked.code == static_cast<std::int32_t>(RequestCode::GetRouteinfoByTopic)) {
            auto answer = answerTo(asked);
            answer.body = routeBody({{"broker-a", relayed_}}, 1);
            return std::optional(answer);
        }
        if (asked.code == static_cast<std::int32_t>(RequestCode::GetBrokerConfig)) {
            auto answer = answerTo(asked);
            answer.body = "a=" + std::string(3U << 20, 'y') + "\n";
            return std::optional(answer);
        }
        return {};
    }

    /// Whether one attempt soon fails without being made. A slow machine may take some, between which the pauses get longer.
    static bool isLeftAlone(client::AdminClient& admin, const std::string& address) {
        for (int i = 0; i < 8; ++i) {
            const auto answer = admin.invoke(address, RemotingCommand::request(RequestCode::GetBrokerConfig));
            if (answer) return false;
            if (answer.error().message().find("tried again in") != std::string::npos) return true;
        }
        return false;
    }

    const testkit::TempDir folder_;
    const Identity authority_ = Identity::make("authority", "");
    const Identity server_ = Identity::make("broker", "IP:127.0.0.1,DNS:broker.example", &authority_);
    const TlsOptions trusting_{.caFile = file("ca.pem", authority_.certificate)};
    std::string relayed_;
    ScriptedBroker broker_{[this](const auto& asked) { return decide(asked); }};
};

TEST_F(OverTls, MessagesGoBothWays) {
    const TlsRelay relay(broker_.server().port(), server_);
    const auto options = through(relay, trusting_);
    const auto receipt = send(options);
    ASSERT_TRUE(receipt) << receipt.error().toString();
    std::promise<std::string> seen;
    auto reader = client::PushConsumer::create({.client = options, .group = "g", .from = client::ConsumeFrom::FirstOffset});
    ASSERT_TRUE(reader);
    ASSERT_TRUE(reader->subscribe("T"));
    ASSERT_TRUE(reader->consume([&](auto messages, auto&) {
        seen.set_value(std::string(messages.front().body()));
        return client::ConsumeResult::Success;
    }));
    EXPECT_EQ(seen.get_future().get(), "x");
    EXPECT_GT(relay.handshakes(), 0);
}

TEST_F(OverTls, LargeFramesAndManySmallOnesArriveWhole) {
    const TlsRelay relay(broker_.server().port(), server_);
    const auto options = through(relay, trusting_);
    std::string body(3U << 20, '\0');
    for (std::size_t i = 0; i < body.size(); ++i) body[i] = static_cast<char>(i * 2654435761U >> 24);
    ASSERT_TRUE(send(options, body));
    EXPECT_EQ(broker_.first(RequestCode::SendMessageV2).body, body);
    auto admin = client::AdminClient::create(options);
    ASSERT_TRUE(admin);
    for (int i = 0; i < 3; ++i) {
        const auto answer = admin->invoke(relayed_, RemotingCommand::request(RequestCode::GetBrokerConfig));
        ASSERT_TRUE(answer) << answer.error().toString();
        EXPECT_EQ(answer->body.size(), (3U << 20) + 3U);
    }
    std::atomic<int> good{0};
    auto sender = client::Producer::create({.client = options, .group = "g2", .sendTimeout = 20s});
    ASSERT_TRUE(sender);
    for (int i = 0; i < 2000; ++i) sender->sendAsync({.topic = "T", .body = std::string(1000, 'z')}, [&](const auto& receipt) { good += receipt ? 1 : 0; });
    sender->close();
    EXPECT_EQ(good, 2000);
}

TEST_F(OverTls, WhomNobodyVouchesForIsNotTrusted) {
    const TlsRelay relay(broker_.server().port(), server_);
    const auto other = Identity::make("another authority", "");
    const auto refused = send(through(relay, {.caFile = file("other.pem", other.certificate)}), "x", 300ms);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message().find("TLS: "), std::string::npos) << refused.error().message();
    EXPECT_NE(refused.error().message().find("certificate"), std::string::npos) << refused.error().message();
    EXPECT_TRUE(broker_.server().requests().empty());
    EXPECT_TRUE(send(through(relay, {.verify = false})));
}

TEST_F(OverTls, TheServerHasToProveItsName) {
    const auto elsewhere = Identity::make("broker", "DNS:broker.example", &authority_);
    const TlsRelay relay(broker_.server().port(), elsewhere);
    const auto refused = send(through(relay, trusting_), "x", 300ms);
    ASSERT_FALSE(refused) << "it was reached by an address that its certificate does not have";
    EXPECT_NE(refused.error().message().find("serverName"), std::string::npos) << refused.error().message();
    auto named = trusting_;
    named.serverName = "broker.example";
    EXPECT_TRUE(send(through(relay, named)));
    named.serverName = "another.example";
    EXPECT_FALSE(send(through(relay, named), "x", 300ms));
}

TEST_F(OverTls, AClientShowsItsCertificateWhenItIsAsked) {
    const TlsRelay relay(broker_.server().port(), server_, &authority_);
    EXPECT_FALSE(send(through(relay, trusting_), "x", 300ms));
    const auto mine = Identity::make("client", "", &authority_);
    auto shown = trusting_;
    shown.certificateFile = file("client.pem", mine.certificate);
    shown.keyFile = file("client.key", mine.key);
    const auto receipt = send(through(relay, shown));
    EXPECT_TRUE(receipt) << receipt.error().toString();
}

TEST_F(OverTls, FilesThatCannotBeUsedAreNamed) {
    const auto nonsense = file("nonsense", "hello");
    const auto other = Identity::make("other", "");
    const auto certificate = file("c.pem", server_.certificate);
    for (const auto& options : {TlsOptions{.caFile = nonsense}, TlsOptions{.certificateFile = nonsense, .keyFile = nonsense}, TlsOptions{.certificateFile = certificate},
                                TlsOptions{.certificateFile = certificate, .keyFile = file("k.pem", other.key)}, TlsOptions{.caFile = "/no/such/file"}}) {
        const auto made = client::tls(options);
        ASSERT_FALSE(made);
        EXPECT_EQ(made.error().code(), StatusCode::InvalidArgument) << made.error().toString();
        EXPECT_NE(made.error().message().find("File"), std::string::npos) << made.error().toString();
    }
}

TEST_F(OverTls, AnEncryptedKeyIsRefusedWithoutAskingForItsPassword) {
    const auto made = client::tls({.certificateFile = file("c.pem", server_.certificate), .keyFile = file("k.pem", encrypted(server_.key, "secret"))});
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code(), StatusCode::InvalidArgument);
    EXPECT_NE(made.error().message().find("k.pem' cannot be used: the key is encrypted"), std::string::npos) << made.error().message();
}

TEST_F(OverTls, WhoTrustsEverybodyIsNotToldToCheckTheAuthority) {
    const TlsRelay relay(broker_.server().port(), server_, &authority_);
    const auto refused = send(through(relay, {.verify = false}), "x", 300ms);
    ASSERT_FALSE(refused) << "the server wants a certificate, and got none";
    EXPECT_NE(refused.error().message().find("TLS: "), std::string::npos) << refused.error().message();
    EXPECT_EQ(refused.error().message().find("caFile"), std::string::npos) << refused.error().message();
}

TEST_F(OverTls, APeerThatSaysNothingCostsNothing) {
    const ScriptedServer silent([](const auto&) { return std::nullopt; });   // takes the handshake for the beginning of a long frame
    relayed_ = silent.address();
    const auto security = client::tls(trusting_);
    ASSERT_TRUE(security);
    client::ClientOptions options{.nameServers = silent.address(), .security = *security, .log = [](auto, auto) {}};
    const auto before = std::clock();
    EXPECT_FALSE(send(options, "x", 1000ms));
    EXPECT_LT(std::clock() - before, CLOCKS_PER_SEC / 2) << "it waited for room to write, which there always was";
}

TEST_F(OverTls, AHandshakeThatDoesNotEndIsNoConnection) {
    const ScriptedServer silent([](const auto&) { return std::nullopt; });
    const auto security = client::tls(trusting_);
    ASSERT_TRUE(security);
    auto admin = client::AdminClient::create({.nameServers = silent.address(), .security = *security, .connectTimeout = 100ms, .log = [](auto, auto) {}});
    ASSERT_TRUE(admin);
    // Long before the deadline of the question.
    const auto late = admin->invoke(silent.address(), RemotingCommand::request(RequestCode::GetBrokerConfig), 1min);
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code(), StatusCode::Unavailable);
    EXPECT_NE(late.error().message().find("handshake"), std::string::npos) << late.error().message();
    EXPECT_TRUE(isLeftAlone(*admin, silent.address()));
}

TEST_F(OverTls, WhoWasRefusedIsLeftAloneForAWhile) {
    const TlsRelay relay(broker_.server().port(), server_);
    const auto other = Identity::make("another authority", "");
    auto admin = client::AdminClient::create(through(relay, {.caFile = file("other.pem", other.certificate)}));
    ASSERT_TRUE(admin);
    EXPECT_TRUE(isLeftAlone(*admin, relay.address()));
}

TEST_F(OverTls, ConnectionsThatBreakAreMadeAgain) {
    auto relay = std::make_unique<TlsRelay>(broker_.server().port(), server_);
    auto sender = client::Producer::create({.client = through(*relay, trusting_), .group = "g", .sendTimeout = 10s});
    ASSERT_TRUE(sender);
    for (int i = 0; i < 5; ++i) {
        const auto receipt = sender->send({.topic = "T", .body = "x"});
        ASSERT_TRUE(receipt) << receipt.error().toString();
        broker_.server().dropAll();
    }
    EXPECT_GT(relay->handshakes(), 1);
}

}  // namespace
}  // namespace patchbay::test
