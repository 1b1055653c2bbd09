#include "app/LifecycleLoop.h"

#include "patchbay/base/Assert.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <initializer_list>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <unistd.h>

namespace patchbay::kernel {

namespace {

constexpr int kUnfinishedMs = 5;
constexpr int kLateMs = 1000;

sigset_t setOf(std::initializer_list<int> numbers) noexcept {
    sigset_t set;
    sigemptyset(&set);
    for (const int number : numbers) sigaddset(&set, number);
    return set;
}

/// No thread can be relied on any more, so only what a signal handler may do.
void endNow(int) noexcept {
    constexpr char kText[] = "patchbay: the stop took longer than stopTimeout; ended without waiting any longer\n";
    (void)!write(STDERR_FILENO, kText, sizeof kText - 1);
    _exit(1);
}

void endWithin(std::chrono::milliseconds limit) noexcept {
    if (limit.count() == 0) return;
    struct sigaction action{};
    action.sa_handler = endNow;
    sigaction(SIGALRM, &action, nullptr);
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(limit);
    itimerval timer{};
    timer.it_value.tv_sec = seconds.count();
    timer.it_value.tv_usec = std::chrono::microseconds(limit - seconds).count();
    setitimer(ITIMER_REAL, &timer, nullptr);
}

int openSignals(std::initializer_list<int> numbers) noexcept {
    const auto set = setOf(numbers);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int openEvent() noexcept {
    return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

void signalEvent(int fd) noexcept {
    const std::uint64_t one = 1;
    (void)!write(fd, &one, sizeof one);
}

}  // namespace

LifecycleLoop::LifecycleLoop()
    : thread_(std::this_thread::get_id()), wakeFd_(openEvent()), hangupFd_(openSignals({SIGHUP})), stopFd_(openSignals({SIGTERM, SIGINT})),
      doneFd_(openEvent()), endFd_(openEvent()) {
    PATCHBAY_ASSERT(wakeFd_ >= 0 && hangupFd_ >= 0 && stopFd_ >= 0 && doneFd_ >= 0 && endFd_ >= 0);
}

LifecycleLoop::~LifecycleLoop() {
    close();
    signalEvent(endFd_);
    if (stops_.joinable()) stops_.join();
    for (const int fd : {wakeFd_, hangupFd_, stopFd_, doneFd_, endFd_}) ::close(fd);
}

void LifecycleLoop::blockHangups() noexcept {
    const auto set = setOf({SIGHUP});
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
}

void LifecycleLoop::blockStops() noexcept {
    const auto set = setOf({SIGTERM, SIGINT});
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

void LifecycleLoop::takeStops(std::chrono::milliseconds limit, std::function<void(int)> late) {
    stops_ = std::thread([this, limit, late = std::move(late)] { watchStops(limit, late); });
}

void LifecycleLoop::watchStops(std::chrono::milliseconds limit, const std::function<void(int)>& late) {
    pthread_setname_np(pthread_self(), "signals");
    signalfd_siginfo info{};
    while (read(stopFd_, &info, sizeof info) != static_cast<ssize_t>(sizeof info)) {
        std::array<pollfd, 2> fds{{{stopFd_, POLLIN, 0}, {endFd_, POLLIN, 0}}};
        (void)poll(fds.data(), fds.size(), -1);
        if (fds[1].revents != 0) return;
    }
    endWithin(limit);
    const auto set = setOf({SIGTERM, SIGINT});
    pthread_sigmask(SIG_UNBLOCK, &set, nullptr);   // their default action ends the process
    stopSignal_ = static_cast<int>(info.ssi_signo);
    wake();
    std::array<pollfd, 2> fds{{{doneFd_, POLLIN, 0}, {endFd_, POLLIN, 0}}};
    if (poll(fds.data(), fds.size(), kLateMs) == 0) late(stopSignal_);
    // Only here the second signal is not blocked.
    while (poll(&fds[1], 1, -1) < 0) {
    }
}

int LifecycleLoop::run(const std::function<void()>& hangup, const std::function<bool()>& unfinished) {
    bool more = false;
    while (stopSignal_ == 0) {
        std::array<pollfd, 2> fds{{{hangupFd_, POLLIN, 0}, {wakeFd_, POLLIN, 0}}};
        if (poll(fds.data(), fds.size(), more ? kUnfinishedMs : -1) < 0 && errno != EINTR) PATCHBAY_ASSERT(false && "poll");
        runCalls();
        runPosted();
        while (stopSignal_ == 0 && takeHangup()) hangup();
        // What was posted while something took long has not woken this loop.
        more = unfinished() || somethingPosted();
    }
    // Sent before the stop, so it is obeyed before it.
    if (takeHangup()) hangup();
    signalEvent(doneFd_);
    return stopSignal_;
}

bool LifecycleLoop::takeHangup() const noexcept {
    signalfd_siginfo info{};
    return read(hangupFd_, &info, sizeof info) == static_cast<ssize_t>(sizeof info);
}

bool LifecycleLoop::somethingPosted() {
    const std::lock_guard lock(mutex_);
    return !posted_.empty();
}

void LifecycleLoop::wake() const noexcept {
    signalEvent(wakeFd_);
}

void LifecycleLoop::post(std::function<void(bool)> work) {
    {
        const std::lock_guard lock(mutex_);
        if (!closed_) {
            posted_.push_back(std::move(work));
            return wake();
        }
    }
    work(true);
}

void LifecycleLoop::runPosted() {
    std::vector<std::function<void(bool)>> posted;
    {
        const std::lock_guard lock(mutex_);
        posted.swap(posted_);
    }
    for (auto& work : posted) {
        work(false);
        work = nullptr;   // it may own the request that the next one waits for
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
    wake();
    return done.get();
}

void LifecycleLoop::runCalls(std::chrono::milliseconds wait) {
    pollfd waking{wakeFd_, POLLIN, 0};
    (void)poll(&waking, 1, static_cast<int>(wait.count()));
    std::uint64_t count = 0;
    (void)!read(wakeFd_, &count, sizeof count);
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
    std::vector<std::function<void(bool)>> posted;
    {
        const std::lock_guard lock(mutex_);
        closed_ = true;
        calls.swap(calls_);
        posted.swap(posted_);
    }
    for (auto& work : posted) work(true);
    for (auto& call : calls) call.done.set_value({StatusCode::Unavailable, "the broker is stopping"});
}

}  // namespace patchbay::kernel
