#include "patchbay/client/AdminClient.h"

#include "admin/AdminImpl.h"

#include <charconv>

namespace patchbay::client {

using protocol::RemotingCommand;

Status succeeded(const Result<RemotingCommand>& answer, std::string_view what) {
    if (!answer) return answer.error();
    return answer->code == 0 ? Status::ok() : statusOf(*answer, what);
}

Result<std::int64_t> numberOf(const Result<RemotingCommand>& answer, std::string_view field, std::string_view what) {
    if (auto status = succeeded(answer, what); !status) return status;
    const auto text = answer->find(field).value_or("");
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc() && end == text.data() + text.size()) return number;
    return Status(StatusCode::Corrupt, std::string(what) + " was answered without a number '" + std::string(field) + "'");
}

Result<RemotingCommand> AdminClient::Impl::ask(const std::string& address, Command command, Ms timeout) {
    return wait<Command>([&](Done<Command> done) {
        auto& asker = instance_->asker();
        asker.ask(address, std::move(command), asker.deadlineIn(timeout), std::move(done));
    });
}

Result<RemotingCommand> AdminClient::Impl::askNameServer(Command command, Ms timeout) {
    return wait<Command>([&](Done<Command> done) {
        instance_->nameServers().ask(std::move(command), instance_->asker().deadlineIn(timeout), std::move(done));
    });
}

std::vector<std::string> AdminClient::Impl::nameServers() {
    return instance_->runtime().call([&] { return instance_->nameServers().list(); });
}

Result<RoutePtr> AdminClient::Impl::route(const std::string& topic) {
    return wait<RoutePtr>([&](Done<RoutePtr> done) {
        instance_->routes().refresh(topic, instance_->asker().deadlineIn(timeout()), std::move(done));
    });
}

Result<std::string> AdminClient::Impl::home(const MessageQueue& queue) {
    auto found = route(queue.topic);
    if (!found) return found.error();
    if (const auto* address = (*found)->masterOf(queue.brokerName)) return *address;
    return Status(StatusCode::NotFound, "broker '" + queue.brokerName + "' has no master with topic '" + queue.topic + "'; see route()");
}

Result<std::vector<AdminClient::Impl::NamedBroker>> AdminClient::Impl::namedBrokersOf(const std::string& topic) {
    auto found = route(topic);
    if (!found) return found.error();
    std::vector<NamedBroker> brokers;
    for (const auto& broker : (*found)->data.brokerDatas) {
        if (const auto* address = (*found)->addressOf(broker.brokerName, protocol::kMasterId)) brokers.push_back({broker.brokerName, *address});
    }
    if (brokers.empty()) return Status(StatusCode::NotFound, "no broker has topic '" + topic + "'");
    return brokers;
}

Result<std::vector<std::string>> AdminClient::Impl::brokersOf(const std::string& topic) {
    auto brokers = namedBrokersOf(topic);
    if (!brokers) return brokers.error();
    std::vector<std::string> addresses;
    for (auto& broker : *brokers) addresses.push_back(std::move(broker.address));
    return addresses;
}

std::string AdminClient::Impl::nameOf(const std::string& topic, const std::string& address) {
    const auto found = route(topic);
    if (!found) return {};
    for (const auto& broker : (*found)->data.brokerDatas) {
        for (const auto& [id, known] : broker.brokerAddrs) {
            if (known == address) return broker.brokerName;
        }
    }
    return {};
}

AdminClient::AdminClient(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
AdminClient::AdminClient(AdminClient&&) noexcept = default;
AdminClient& AdminClient::operator=(AdminClient&&) noexcept = default;
AdminClient::~AdminClient() = default;

Result<AdminClient> AdminClient::create(ClientOptions options) {
    auto instance = ClientInstance::acquire(options, {});
    if (!instance) return instance.error();
    return AdminClient(std::make_unique<Impl>(std::move(*instance)));
}

Result<RemotingCommand> AdminClient::invoke(const std::string& address, Command command, Ms timeout) {
    return impl_->ask(address, std::move(command), timeout);
}

Result<RemotingCommand> AdminClient::invokeNameServer(Command command, Ms timeout) {
    return impl_->askNameServer(std::move(command), timeout);
}

Result<RemotingCommand> AdminClient::invokeAllNameServers(const Command& command, Ms timeout) {
    Result<Command> last = Status(StatusCode::Unavailable, "no name server is known; set ClientOptions::nameServers");
    for (const auto& address : impl_->nameServers()) {
        last = impl_->ask(address, command, timeout);
        if (!last || last->code != 0) return last;
    }
    return last;
}

std::vector<std::string> AdminClient::nameServers() { return impl_->nameServers(); }

}  // namespace patchbay::client
