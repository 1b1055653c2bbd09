#include "support/RawClient.h"

#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>
#include <utility>

namespace patchbay::test {

RawClient::RawClient(std::uint16_t port, std::chrono::milliseconds limit) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const timeval wait{static_cast<time_t>(limit.count() / 1000), static_cast<suseconds_t>(limit.count() % 1000 * 1000)};
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
    setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return;
    close(fd_);
    fd_ = -1;
}

RawClient::~RawClient() {
    if (fd_ >= 0) close(fd_);
}

bool RawClient::send(std::string_view bytes) {
    while (!bytes.empty()) {
        const auto count = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (count <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
}

Status RawClient::fill(std::size_t bytes) {
    std::array<char, 65536> piece{};
    while (buffer_.size() < bytes) {
        const auto count = recv(fd_, piece.data(), piece.size(), 0);
        if (count == 0 || (count < 0 && errno == ECONNRESET)) return {StatusCode::Unavailable, "closed by the peer"};
        if (count < 0) return {StatusCode::DeadlineExceeded, "nothing came"};
        buffer_.append(piece.data(), static_cast<std::size_t>(count));
    }
    return Status::ok();
}

Result<protocol::RemotingCommand> RawClient::receive() {
    if (auto status = fill(4); !status) return status;
    std::uint32_t length = 0;
    for (int i = 0; i < 4; ++i) length = length << 8 | static_cast<unsigned char>(buffer_[static_cast<std::size_t>(i)]);
    if (auto status = fill(4 + std::size_t{length}); !status) return status;
    const auto frame = buffer_.substr(0, 4 + std::size_t{length});
    buffer_.erase(0, frame.size());
    return protocol::RemotingCommand::decode(frame);
}

Result<protocol::RemotingCommand> RawClient::call(protocol::RemotingCommand request) {
    request.opaque = ++opaque_;
    auto frame = request.encode(protocol::SerializeType::Json);
    if (!frame) return frame.error();
    if (!send(*frame)) return Status(StatusCode::Unavailable, "closed by the peer");
    for (;;) {
        auto answer = receive();
        if (!answer || (answer->isResponse() && answer->opaque == request.opaque)) return answer;
    }
}

std::string RawClient::everything() {
    while (fill(buffer_.size() + 1)) {
    }
    return std::exchange(buffer_, {});
}

bool RawClient::closedByPeer() {
    return buffer_.empty() && fill(1).code() == StatusCode::Unavailable;
}

}  // namespace patchbay::test
