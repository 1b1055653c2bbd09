#include "server/Resolver.h"

#include <array>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <utility>

namespace patchbay::kernel {

namespace {

/// May block for as long as the system's resolver likes. IPv4 first, as servers of this protocol announce themselves so.
Result<SocketAddress> systemLookUp(const std::string& hostPort) {
    const auto colon = hostPort.rfind(':');
    if (colon == std::string::npos) return Status(StatusCode::InvalidArgument, "'" + hostPort + "' is not host:port");
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const auto host = hostPort.substr(0, colon);
    const auto port = hostPort.substr(colon + 1);
    if (const int error = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &found); error != 0) {
        return Status(StatusCode::Unavailable, "cannot resolve '" + hostPort + "': " + ::gai_strerror(error));
    }
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> guard(found, ::freeaddrinfo);
    for (const auto* one = found; one != nullptr; one = one->ai_next) {
        if (one->ai_family != AF_INET) continue;
        sockaddr_in v4;
        std::memcpy(&v4, one->ai_addr, sizeof v4);
        std::array<std::uint8_t, 4> ip;
        std::memcpy(ip.data(), &v4.sin_addr, ip.size());
        return SocketAddress::v4(ip, ntohs(v4.sin_port));
    }
    sockaddr_in6 v6;
    std::memcpy(&v6, found->ai_addr, sizeof v6);
    std::array<std::uint8_t, 16> ip;
    std::memcpy(ip.data(), &v6.sin6_addr, ip.size());
    return SocketAddress::v6(ip, ntohs(v6.sin6_port));
}

}  // namespace

struct Resolver::State {
    struct Question {
        std::string hostPort;
        Found found;
    };
    explicit State(LookUp how) : lookUp(std::move(how)) {}

    const LookUp lookUp;
    std::mutex mutex;
    std::condition_variable changed;
    // Guarded by mutex. The first question is the one that is being looked up.
    std::deque<Question> questions;
    bool running = false;    // the thread is there
    bool telling = false;    // a `found` runs
    bool stopping = false;
};

Resolver::Resolver(LookUp lookUp) : state_(std::make_shared<State>(lookUp ? std::move(lookUp) : LookUp(systemLookUp))) {}

Resolver::~Resolver() {
    stop();
}

void Resolver::resolve(const std::string& hostPort, Found found) {
    const std::lock_guard lock(state_->mutex);
    if (state_->stopping) return;
    state_->questions.push_back({hostPort, std::move(found)});
    if (std::exchange(state_->running, true)) return state_->changed.notify_all();
    std::thread([state = state_] { work(state); }).detach();
}

void Resolver::work(const std::shared_ptr<State>& state) noexcept {
    pthread_setname_np(pthread_self(), "resolver");
    std::unique_lock lock(state->mutex);
    for (;;) {
        state->changed.wait(lock, [&] { return state->stopping || !state->questions.empty(); });
        if (state->stopping) return;
        const auto hostPort = state->questions.front().hostPort;
        lock.unlock();
        auto address = state->lookUp(hostPort);
        lock.lock();
        if (state->stopping) return;   // the questions are gone
        auto question = std::move(state->questions.front());
        state->questions.pop_front();
        state->telling = true;
        lock.unlock();
        question.found(std::move(address));
        question.found = nullptr;
        lock.lock();
        state->telling = false;
        state->changed.notify_all();
    }
}

void Resolver::stop() noexcept {
    std::deque<State::Question> gone;   // destroyed on this thread, without the lock
    std::unique_lock lock(state_->mutex);
    state_->stopping = true;
    gone.swap(state_->questions);
    state_->changed.notify_all();
    state_->changed.wait(lock, [&] { return !state_->telling; });
}

}  // namespace patchbay::kernel
