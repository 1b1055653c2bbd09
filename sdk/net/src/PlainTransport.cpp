#include "patchbay/net/Transport.h"

#include <cerrno>
#include <sys/socket.h>
#include <unistd.h>

namespace patchbay::net {

namespace {

class PlainTransport final : public Transport {
public:
    explicit PlainTransport(int fd) noexcept : fd_(fd) {}
    ~PlainTransport() override { ::close(fd_); }
    PlainTransport(const PlainTransport&) = delete;
    PlainTransport& operator=(const PlainTransport&) = delete;

    int fd() const noexcept override { return fd_; }

    IoResult receive(std::span<char> into) noexcept override {
        while (true) {
            const auto got = ::recv(fd_, into.data(), into.size(), MSG_DONTWAIT);
            if (got > 0) return {IoResult::Kind::Done, static_cast<std::size_t>(got), 0};
            if (got == 0) return {IoResult::Kind::End, 0, 0};
            if (errno != EINTR) return failure();
        }
    }

    IoResult send(std::span<const iovec> pieces) noexcept override {
        // sendmsg does not write to the pieces; the cast is what its C signature asks for.
        msghdr message{};
        message.msg_iov = const_cast<iovec*>(pieces.data());
        message.msg_iovlen = pieces.size();
        while (true) {
            const auto put = ::sendmsg(fd_, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
            if (put > 0) return {IoResult::Kind::Done, static_cast<std::size_t>(put), 0};
            if (put == 0 || errno != EINTR) return failure();
        }
    }

    void endSending() noexcept override { ::shutdown(fd_, SHUT_WR); }

private:
    static IoResult failure() noexcept {
        if (errno == EAGAIN) return {IoResult::Kind::WouldBlock, 0, 0};
        return {IoResult::Kind::Failed, 0, errno};
    }

    const int fd_;
};

}  // namespace

std::unique_ptr<Transport> makePlainTransport(int fd) { return std::make_unique<PlainTransport>(fd); }

}  // namespace patchbay::net
