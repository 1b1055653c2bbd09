#include "patchbay/base/Assert.h"
#include "patchbay/net/Poller.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace patchbay::net {

namespace {

class EpollPoller final : public Poller {
public:
    EpollPoller() : epoll_(::epoll_create1(EPOLL_CLOEXEC)), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
        PATCHBAY_ASSERT(epoll_ >= 0 && wake_ >= 0);
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.ptr = nullptr;
        PATCHBAY_ASSERT(::epoll_ctl(epoll_, EPOLL_CTL_ADD, wake_, &event) == 0);
    }
    ~EpollPoller() override {
        ::close(wake_);
        ::close(epoll_);
    }

    bool add(int fd, std::uint32_t interest, Pollable& who) noexcept override {
        return control(EPOLL_CTL_ADD, fd, interest, &who);
    }
    void change(int fd, std::uint32_t interest, Pollable& who) noexcept override {
        PATCHBAY_ASSERT(control(EPOLL_CTL_MOD, fd, interest, &who));
    }
    void remove(int fd) noexcept override { control(EPOLL_CTL_DEL, fd, 0, nullptr); }

    std::size_t wait(std::span<ReadyEvent> events, int timeoutMs) noexcept override {
        std::array<epoll_event, 128> found;
        const int room = static_cast<int>(std::min(events.size(), found.size()));
        const int count = ::epoll_wait(epoll_, found.data(), room, timeoutMs);
        if (count <= 0) return 0;  // EINTR is a turn without events
        for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
            auto* who = static_cast<Pollable*>(found[i].data.ptr);
            if (who == nullptr) swallowWake();
            events[i] = {who, translate(found[i].events)};
        }
        return static_cast<std::size_t>(count);
    }

    void wake() noexcept override {
        const std::uint64_t one = 1;
        // Fails only when the counter is full, and then the loop is awake anyway.
        [[maybe_unused]] const auto ignored = ::write(wake_, &one, sizeof one);
    }

private:
    bool control(int operation, int fd, std::uint32_t interest, Pollable* who) const noexcept {
        epoll_event event{};
        event.events = EPOLLRDHUP;
        if ((interest & kReadable) != 0) event.events |= EPOLLIN;
        if ((interest & kWritable) != 0) event.events |= EPOLLOUT;
        // Without reading, a peer's end is not news either: it would be reported in every turn.
        if ((interest & kReadable) == 0) event.events &= ~static_cast<std::uint32_t>(EPOLLRDHUP);
        event.data.ptr = who;
        return ::epoll_ctl(epoll_, operation, fd, &event) == 0;
    }

    static std::uint32_t translate(std::uint32_t found) noexcept {
        std::uint32_t readiness = 0;
        if ((found & EPOLLIN) != 0) readiness |= kReadable;
        if ((found & EPOLLOUT) != 0) readiness |= kWritable;
        if ((found & (EPOLLRDHUP | EPOLLHUP)) != 0) readiness |= kHungUp;
        if ((found & (EPOLLERR | EPOLLHUP)) != 0) readiness |= kFailed;
        return readiness;
    }

    void swallowWake() const noexcept {
        std::uint64_t count = 0;
        [[maybe_unused]] const auto ignored = ::read(wake_, &count, sizeof count);
    }

    const int epoll_;
    const int wake_;
};

}  // namespace

std::unique_ptr<Poller> makeEpollPoller() { return std::make_unique<EpollPoller>(); }

}  // namespace patchbay::net
