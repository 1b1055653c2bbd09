#include "support/SlowLink.h"

#include <algorithm>
#include <arpa/inet.h>
#include <iterator>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace patchbay::test {

namespace {

sockaddr_in addressOf(const std::string& host, std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    inet_pton(AF_INET, host.c_str(), &address.sin_addr);
    return address;
}

}  // namespace

SlowLink::SlowLink(const std::string& from, const std::string& to, std::uint16_t port, Manners manners)
    : to_(to), port_(port), manners_(manners), endFd_(eventfd(0, EFD_CLOEXEC)) {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const int yes = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    const auto address = addressOf(from, port);
    if (bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 || listen(fd, 64) != 0) {
        close(fd);
        return;
    }
    listenFd_ = fd;
    if (manners_.mischiefEvery.count() > 0) nextMischief_ = std::chrono::steady_clock::now() + manners_.mischiefEvery;
    thread_ = std::thread([this] { run(); });
}

SlowLink::~SlowLink() {
    const std::uint64_t one = 1;
    (void)!write(endFd_, &one, sizeof one);
    if (thread_.joinable()) thread_.join();
    for (auto& pair : pairs_) {
        close(pair.ways[0].from);
        close(pair.ways[0].to);
    }
    if (listenFd_ >= 0) close(listenFd_);
    close(endFd_);
}

void SlowLink::run() {
    for (;;) {
        std::vector<pollfd> fds{{endFd_, POLLIN, 0}, {listenFd_, POLLIN, 0}};
        for (auto& pair : pairs_) {
            for (auto& way : pair.ways) fds.push_back({way.ended ? -1 : way.from, POLLIN, 0});
        }
        const auto next = nextDue();
        const auto wait = std::chrono::duration_cast<std::chrono::milliseconds>(next - std::chrono::steady_clock::now()).count() + 1;
        (void)poll(fds.data(), fds.size(), next == Time::max() ? -1 : static_cast<int>(std::max<std::int64_t>(wait, 0)));
        if (fds[0].revents != 0) return;
        std::size_t at = 2;
        const auto now = std::chrono::steady_clock::now();
        for (auto& pair : pairs_) {
            for (auto& way : pair.ways) {
                if (fds[at++].revents != 0) take(pair, way);
                deliver(pair, way, now);
            }
        }
        pairs_.remove_if([](Pair& pair) {
            const bool done = pair.broken || std::all_of(pair.ways.begin(), pair.ways.end(), [](const Way& way) { return way.ended && way.pieces.empty(); });
            if (!done) return false;
            close(pair.ways[0].from);
            close(pair.ways[0].to);
            return true;
        });
        if (fds[1].revents != 0) accept();
        if (now >= nextMischief_) disturb();
    }
}

SlowLink::Time SlowLink::nextDue() const {
    auto next = nextMischief_;
    for (const auto& pair : pairs_) {
        for (const auto& way : pair.ways) {
            if (!way.pieces.empty()) next = std::min(next, std::max(way.pieces.front().due, pair.heldUntil));
        }
    }
    return next;
}

void SlowLink::disturb() {
    nextMischief_ += manners_.mischiefEvery;
    if (pairs_.empty()) return;
    auto& pair = *std::next(pairs_.begin(), static_cast<std::ptrdiff_t>(random_() % pairs_.size()));
    switch (mischief_) {
        case Stall: pair.heldUntil = std::chrono::steady_clock::now() + manners_.stall; break;
        case Reset: {
            const linger now{1, 0};
            for (const auto& way : pair.ways) setsockopt(way.from, SOL_SOCKET, SO_LINGER, &now, sizeof now);
            pair.broken = true;
            break;
        }
        default: {
            // One way is cut, the other goes on.
            auto& way = pair.ways[random_() % 2];
            shutdown(way.to, SHUT_WR);
            way.ended = true;
            way.pieces.clear();
            break;
        }
    }
    ++counts_[mischief_];
    mischief_ = (mischief_ + 1) % kMischiefs;
}

void SlowLink::accept() {
    const int near = ::accept4(listenFd_, nullptr, nullptr, SOCK_CLOEXEC);
    if (near < 0) return;
    const int far = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const auto address = addressOf(to_, port_);
    if (connect(far, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        close(near);
        close(far);
        return;
    }
    const int yes = 1;
    for (const int fd : {near, far}) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    pairs_.push_back({{Way{near, far, {}, false}, Way{far, near, {}, false}}, false, {}});
}

void SlowLink::take(Pair& pair, Way& way) {
    std::array<char, 16'384> buffer;
    const auto got = recv(way.from, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got < 0) {
        pair.broken = true;
        return;
    }
    auto due = std::chrono::steady_clock::now() + manners_.delay;
    if (static_cast<int>(random_() % 100) < manners_.lossPercent) due += manners_.repeat;
    if (!way.pieces.empty()) due = std::max(due, way.pieces.back().due);
    way.pieces.push_back({due, std::string(buffer.data(), static_cast<std::size_t>(got))});
    way.ended = got == 0;
}

void SlowLink::deliver(Pair& pair, Way& way, Time now) {
    if (now < pair.heldUntil) return;
    while (!pair.broken && !way.pieces.empty() && way.pieces.front().due <= now) {
        const std::string& bytes = way.pieces.front().bytes;
        if (bytes.empty()) {
            shutdown(way.to, SHUT_WR);
        } else if (send(way.to, bytes.data(), bytes.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(bytes.size())) {
            pair.broken = true;
        }
        way.pieces.pop_front();
    }
}

}  // namespace patchbay::test
