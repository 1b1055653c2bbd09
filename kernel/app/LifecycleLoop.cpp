#include "app/LifecycleLoop.h"

#include "patchbay/base/Assert.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace patchbay::kernel {

namespace {

sigset_t handledSignals() noexcept {
    sigset_t set;
    sigemptyset(&set);
    for (const int number : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, number);
    return set;
}

int openSignals() noexcept {
    const auto set = handledSignals();
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

}  // namespace

LifecycleLoop::LifecycleLoop()
    : thread_(std::this_thread::get_id()), wakeFd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), signalFd_(openSignals()) {
    PATCHBAY_ASSERT(wakeFd_ >= 0 && signalFd_ >= 0);
}

LifecycleLoop::~LifecycleLoop() {
    close();
    ::close(wakeFd_);
    ::close(signalFd_);
}

void LifecycleLoop::blockSignals() noexcept {
    const auto set = handledSignals();
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
}

void LifecycleLoop::secondSignalKills() noexcept {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    pthread_sigmask(SIG_UNBLOCK, &set, nullptr);   // their default action ends the process
}

int LifecycleLoop::run(const std::function<void()>& hangup) {
    for (;;) {
        std::array<pollfd, 2> fds{{{signalFd_, POLLIN, 0}, {wakeFd_, POLLIN, 0}}};
        if (poll(fds.data(), fds.size(), -1) < 0 && errno != EINTR) PATCHBAY_ASSERT(false && "poll");
        if ((fds[1].revents & POLLIN) != 0) {
            std::uint64_t count = 0;
            (void)!read(wakeFd_, &count, sizeof count);
            runCalls();
        }
        signalfd_siginfo info{};
        while (read(signalFd_, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
            if (static_cast<int>(info.ssi_signo) != SIGHUP) return static_cast<int>(info.ssi_signo);
            hangup();
        }
    }
}

Status LifecycleLoop::call(std::function<Status()> work) {
    if (std::this_thread::get_id() == thread_) return work();
    std::future<Status> done;
    {
        const std::lock_guard lock(mutex_);
        if (closed_) return {StatusCode::Unavailable, "the broker is stopping"};
        calls_.push_back({std::move(work), {}});
        done = calls_.back().done.get_future();
    }
    const std::uint64_t one = 1;
    (void)!write(wakeFd_, &one, sizeof one);
    return done.get();
}

void LifecycleLoop::runCalls() {
    std::vector<Call> calls;
    {
        const std::lock_guard lock(mutex_);
        calls.swap(calls_);
    }
    for (auto& call : calls) {
        try {
            call.done.set_value(call.work());
        } catch (const std::exception& error) {
            call.done.set_value({StatusCode::Internal, error.what()});
        }
    }
}

void LifecycleLoop::close() noexcept {
    std::vector<Call> calls;
    {
        const std::lock_guard lock(mutex_);
        closed_ = true;
        calls.swap(calls_);
    }
    for (auto& call : calls) call.done.set_value({StatusCode::Unavailable, "the broker is stopping"});
}

}  // namespace patchbay::kernel
