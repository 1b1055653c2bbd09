#include "ScriptedServer.h"

#include "patchbay/protocol/route/TopicRoute.h"
#include "patchbay/protocol/util/BigEndian.h"

#include <algorithm>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace patchbay::test {

namespace {

bool readAll(int fd, char* to, std::size_t size) {
    while (size > 0) {
        const auto got = ::recv(fd, to, size, 0);
        if (got <= 0) return false;
        to += got;
        size -= static_cast<std::size_t>(got);
    }
    return true;
}

void writeAll(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        const auto put = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (put <= 0) return;
        bytes.remove_prefix(static_cast<std::size_t>(put));
    }
}

}  // namespace

ScriptedServer::ScriptedServer(Script script, std::uint16_t port) : script_(std::move(script)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;
    ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    socklen_t size = sizeof address;
    if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0) ::perror("bind");
    ::listen(listener_, 16);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    acceptor_ = std::thread([this] { accept(); });
}

ScriptedServer::~ScriptedServer() {
    ::shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    ::close(listener_);
    dropAll();
    for (auto& thread : threads_) thread.join();
}

void ScriptedServer::accept() {
    for (;;) {
        const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        if (fd < 0) return;
        ++accepted_;
        const std::lock_guard lock(mutex_);
        open_.push_back(fd);
        threads_.emplace_back([this, fd] { serve(fd); });
    }
}

void ScriptedServer::serve(int fd) {
    char length[4];
    while (readAll(fd, length, sizeof length)) {
        std::string frame(static_cast<std::size_t>(protocol::loadI32(length)), '\0');
        if (!readAll(fd, frame.data(), frame.size())) break;
        auto command = Command::decodeAfterLength(frame);
        if (!command) break;
        {
            const std::lock_guard lock(mutex_);
            requests_.push_back(*command);
        }
        if (const auto answer = script_(*command)) {
            if (const auto bytes = answer->encode(protocol::SerializeType::Json)) writeAll(fd, *bytes);
        }
    }
    const std::lock_guard lock(mutex_);
    std::erase(open_, fd);
    ::close(fd);
}

std::vector<protocol::RemotingCommand> ScriptedServer::requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
}

std::vector<protocol::RemotingCommand> ScriptedServer::requests(protocol::RequestCode code) const {
    auto all = requests();
    std::erase_if(all, [&](const auto& one) { return one.code != static_cast<std::int32_t>(code); });
    return all;
}

void ScriptedServer::dropAll() {
    const std::lock_guard lock(mutex_);
    for (const int fd : open_) ::shutdown(fd, SHUT_RDWR);
}

void ScriptedServer::push(const Command& command) {
    const auto bytes = command.encode(protocol::SerializeType::Json);
    const std::lock_guard lock(mutex_);
    for (const int fd : open_) writeAll(fd, *bytes);
}

protocol::RemotingCommand answerTo(const protocol::RemotingCommand& question, protocol::ResponseCode code) {
    return protocol::RemotingCommand::response(code, question.opaque);
}

std::string routeBody(const std::vector<std::pair<std::string, std::string>>& brokers, std::int32_t queues) {
    protocol::TopicRouteData route;
    for (const auto& [name, address] : brokers) {
        route.queueDatas.push_back({.brokerName = name, .readQueueNums = queues, .writeQueueNums = queues, .perm = 6});
        route.brokerDatas.push_back({.cluster = "C", .brokerName = name, .brokerAddrs = {{0, address}}, .zoneName = {}});
    }
    return route.toJson(json::Dialect::Strict);
}

}  // namespace patchbay::test
