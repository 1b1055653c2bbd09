// AttackFixture: a whole broker under attack, watched from beside: is it alive, does it serve, what does it keep.
#pragma once

#include "support/BrokerProcess.h"
#include "support/Commands.h"
#include "support/RawClient.h"
#include "support/Stores.h"

#include "patchbay/protocol/RemotingCommand.h"

#include <gtest/gtest.h>

#include <charconv>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace patchbay::test {

using namespace std::chrono_literals;
using protocol::RemotingCommand;
using protocol::RequestCode;
using protocol::ResponseCode;
using protocol::SerializeType;

/// Each test has a broker of its own, and after each the process must be alive, serve another connection within a second on both
/// ports, have grown by less than kGrowthMax bytes and have no more sockets than before, but for those of the watching itself.
class AttackFixture : public OnEachStore {
protected:
    using Fields = std::initializer_list<std::pair<std::string_view, std::string_view>>;
    static constexpr std::size_t kGrowthMax = 32U << 20;
    static constexpr std::size_t kWatching = 4;

    void SetUp() override {
        ASSERT_TRUE(broker_.start()) << broker_.output();
        expectServed();
        ASSERT_EQ(send("Attacked", "warm")->code, 0);
        anonymous_ = anonymousBytes();
        sockets_ = sockets();
    }
    void TearDown() override {
        expectServed();
        const auto end = std::chrono::steady_clock::now() + 10s;
        while (sockets() > sockets_ + kWatching && std::chrono::steady_clock::now() < end) std::this_thread::yield();
        EXPECT_LE(sockets(), sockets_ + kWatching);
        expectFlat();
        EXPECT_EQ(broker_.stop(SIGTERM), 0) << broker_.output();
    }

    /// Somebody else is answered within a second, by both.
    void expectServed() const {
        for (const auto& [port, code] : {std::pair{broker_.brokerPort(), 30}, std::pair{broker_.namesrvPort(), 105}}) {
            RawClient bystander(port, 1s);
            auto question = command(code, {{"topic", "Attacked"}, {"queueId", "0"}});
            const auto answer = bystander.call(question);
            ASSERT_TRUE(answer) << "port " << port << ": " << answer.error().toString() << "\n" << broker_.output();
        }
    }
    void expectFlat() const {
        const auto now = anonymousBytes();
        EXPECT_LT(now, anonymous_ + kGrowthMax) << "grew from " << anonymous_ << " to " << now;
    }
    [[nodiscard]] std::size_t anonymousBytes() const {
        std::ifstream status("/proc/" + std::to_string(broker_.pid()) + "/status");
        for (std::string word; status >> word;) {
            std::size_t kilobytes = 0;
            if (word == "RssAnon:" && status >> kilobytes) return kilobytes << 10;
        }
        ADD_FAILURE() << "the broker is gone\n" << broker_.output();
        return 0;
    }
    [[nodiscard]] std::size_t sockets() const {
        std::size_t count = 0;
        std::error_code error;
        for (std::filesystem::directory_iterator at("/proc/" + std::to_string(broker_.pid()) + "/fd", error), end; at != end; ++at) {
            if (std::filesystem::read_symlink(*at, error).string().starts_with("socket:")) ++count;
        }
        return count;
    }

    static RemotingCommand command(int code, Fields fields = {}, std::string body = {}) {
        auto made = RemotingCommand::request(static_cast<RequestCode>(code));
        for (const auto& [key, value] : fields) made.set(key, value);
        made.body = std::move(body);
        return made;
    }
    static std::string frame(const RemotingCommand& command, SerializeType type = SerializeType::Json) { return command.encode(type).value(); }
    static std::string number(std::uint32_t value) {
        return {static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8), static_cast<char>(value)};
    }
    /// Length word, header and body as given, whatever is in them.
    static std::string rawFrame(std::string_view header, SerializeType type = SerializeType::Json, std::string_view body = {}) {
        const auto mark = static_cast<std::uint32_t>(type) << 24 | static_cast<std::uint32_t>(header.size());
        std::string out = number(static_cast<std::uint32_t>(4 + header.size() + body.size())) + number(mark);
        return out.append(header).append(body);
    }
    [[nodiscard]] Result<RemotingCommand> call(const RemotingCommand& question) const { return RawClient(broker_.brokerPort()).call(question); }
    [[nodiscard]] Result<RemotingCommand> send(std::string_view topic, std::string body, std::string_view properties = {}) const {
        return call(sendCommand(topic, std::move(body), {.properties = properties}));
    }
    [[nodiscard]] std::int64_t maxOffset(std::string_view topic) const {
        const auto answer = call(command(30, {{"topic", topic}, {"queueId", "0"}}));
        std::int64_t offset = -1;
        if (!answer || answer->code != 0) return offset;
        const auto text = answer->find("offset").value_or("");
        std::from_chars(text.data(), text.data() + text.size(), offset);
        return offset;
    }
    static RemotingCommand pullCommand(std::string_view topic, std::int64_t offset = 0, int count = 32) {
        return command(11, {{"consumerGroup", "g"}, {"topic", topic}, {"queueId", "0"}, {"queueOffset", std::to_string(offset)},
                            {"maxMsgNums", std::to_string(count)}, {"sysFlag", "4"}, {"commitOffset", "0"}, {"suspendTimeoutMillis", "0"},
                            {"subscription", "*"}, {"subVersion", "0"}, {"expressionType", "TAG"}});
    }
    [[nodiscard]] std::vector<std::uint16_t> bothPorts() const { return {broker_.brokerPort(), broker_.namesrvPort()}; }

    BrokerProcess broker_{onStore(GetParam())};
    std::size_t anonymous_ = 0;
    std::size_t sockets_ = 0;
};

}  // namespace patchbay::test
