// What a test sends to a processor, and what it gets back.
#pragma once

#include "patchbay/plugin/Request.h"
#include "patchbay/protocol/RemotingCommand.h"
#include "patchbay/testkit/FakePeer.h"

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace patchbay::testkit {

class FakeContext;

/// Header fields of a request, in order.
using Fields = std::vector<std::pair<std::string, std::string>>;

struct CallOptions {
    Ref<FakePeer> peer{};                         ///< null: the context's own peer, made at the first call
    std::string_view listener = "broker";
    protocol::SerializeType serializeType = protocol::SerializeType::Json;
    bool oneway = false;
    bool endOfBatch = true;                       ///< false: FakeContext::endBatch() or a later call() ends the turn
    bool mayBeAbandoned = false;                  ///< an unanswered, destroyed request is no test failure
    std::int32_t version = protocol::kVersion;    ///< the client's
    protocol::Language language = protocol::Language::Java;
};

/// A request on its way: answered, held by a plugin, or lost. Copies share it. Outlives neither the context nor its plugins'
/// stop. Used by the test's thread, while plugins may answer on any.
class CallResult {
public:
    /// The answer is there.
    [[nodiscard]] bool answered() const;
    /// Neither answered nor lost: a plugin keeps it.
    [[nodiscard]] bool held() const;
    /// The plugin destroyed it without an answer.
    [[nodiscard]] bool abandoned() const;
    /// A one-way request that the plugin has consumed; it is never answered().
    [[nodiscard]] bool consumed() const;
    /// How often process() saw it.
    [[nodiscard]] int rounds() const;
    /// Lets timers that are due, posted tasks and redispatched requests run until it is no longer held. False when real time
    /// runs out first.
    bool await(std::chrono::milliseconds atMost = std::chrono::seconds(10));

    // The answer as a client decodes it. Asking without one is a test failure.
    [[nodiscard]] protocol::ResponseCode code() const;
    [[nodiscard]] std::string remark() const;                        ///< "" when there is none
    [[nodiscard]] std::map<std::string, std::string> fields() const;
    [[nodiscard]] std::string field(std::string_view name) const;    ///< "" when there is none
    [[nodiscard]] std::string body() const;
    [[nodiscard]] protocol::RemotingCommand response() const;

private:
    friend class FakeContext;
    friend class TestRequest;

    struct State {
        mutable std::mutex mutex;
        std::condition_variable changed;
        std::optional<protocol::RemotingCommand> response;
        bool consumed = false;
        bool abandoned = false;
        int rounds = 0;
    };
    CallResult(FakeContext& context, std::shared_ptr<State> state) : context_(&context), state_(std::move(state)) {}

    FakeContext* context_;
    std::shared_ptr<State> state_;
};

}  // namespace patchbay::testkit
