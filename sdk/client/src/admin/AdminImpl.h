// AdminClient::Impl: asks a question and waits for its answer.
#pragma once

#include "instance/ClientInstance.h"
#include "patchbay/client/AdminClient.h"

#include <functional>
#include <future>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace patchbay::client {

/// Any thread but the loop, several at once.
class AdminClient::Impl {
public:
    explicit Impl(ClientInstance::Pointer instance) : instance_(std::move(instance)) {}

    Result<Command> ask(const std::string& address, Command command, Ms timeout);
    Result<Command> ask(const std::string& address, Command command) { return ask(address, std::move(command), timeout()); }
    Result<Command> askNameServer(Command command, Ms timeout);
    Result<Command> askNameServer(Command command) { return askNameServer(std::move(command), timeout()); }
    std::vector<std::string> nameServers();
    Result<RoutePtr> route(const std::string& topic);
    [[nodiscard]] Ms timeout() const { return instance_->options().requestTimeout; }
    /// The master of a queue's broker.
    Result<std::string> home(const MessageQueue& queue);
    /// One broker address for each broker name of the topic's route, masters first.
    Result<std::vector<std::string>> brokersOf(const std::string& topic);
    struct NamedBroker {
        std::string name;
        std::string address;
    };
    /// The same with the names.
    Result<std::vector<NamedBroker>> namedBrokersOf(const std::string& topic);
    /// The name of the broker that is at this address in the topic's route; empty when none is.
    std::string nameOf(const std::string& topic, const std::string& address);

private:
    template <typename T>
    using Done = std::function<void(Result<T>)>;
    /// Runs `start` on the loop and waits until it has called its argument.
    template <typename T>
    Result<T> wait(const std::function<void(Done<T>)>& start) {
        auto promise = std::make_shared<std::promise<Result<T>>>();
        auto future = promise->get_future();
        instance_->runtime().loop().post([&start, promise] {
            start([promise](Result<T> result) { promise->set_value(std::move(result)); });
        });
        return future.get();
    }

    const ClientInstance::Pointer instance_;
};

/// Ok for Success, otherwise what the answer means.
[[nodiscard]] Status succeeded(const Result<protocol::RemotingCommand>& answer, std::string_view what);

/// A request with a header structure.
template <typename Header>
[[nodiscard]] protocol::RemotingCommand commandOf(protocol::RequestCode code, const Header& header) {
    auto command = protocol::RemotingCommand::request(code);
    command.setHeader(header);
    return command;
}

/// The answer's body as T.
template <typename T>
[[nodiscard]] Result<T> bodyOf(const Result<protocol::RemotingCommand>& answer, std::string_view what) {
    if (auto status = succeeded(answer, what); !status) return status;
    return T::fromJson(answer->body);
}

/// A number in the answer's header.
[[nodiscard]] Result<std::int64_t> numberOf(const Result<protocol::RemotingCommand>& answer, std::string_view field, std::string_view what);

}  // namespace patchbay::client
