// Traffic: clients that send, pull and administer without a pause, and count what went wrong.
#pragma once

#include "support/RawClient.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace patchbay::test {

/// Each sender, puller and administrator is a thread with a connection of its own, from start() to stop(). What an answer must be is the
/// protocol's: a send 0, a pull 0 or 19 (nothing came while it was held), an administrator's question 0. Everything else, a connection
/// that ends and an answer that takes longer than 3 s are failures.
class Traffic {
public:
    explicit Traffic(std::uint16_t brokerPort, std::string topic = "Swapped") : port_(brokerPort), topic_(std::move(topic)) {}
    ~Traffic() { (void)stop(); }

    void start(int senders, int pullers, int administrators);
    /// Joins, and answers what failed; empty is good. Every acknowledged message has been pulled by then, in order, when there are pullers.
    std::string stop();

    [[nodiscard]] std::uint64_t sent() const noexcept { return sent_.load(); }
    [[nodiscard]] std::uint64_t pulled() const noexcept { return pulled_.load(); }
    [[nodiscard]] std::uint64_t asked() const noexcept { return asked_.load(); }
    [[nodiscard]] std::chrono::milliseconds slowestSend() const noexcept { return std::chrono::milliseconds(slowestMs_.load()); }

private:
    void send(std::int32_t queue);
    void pull(std::int32_t queue);
    void ask();
    /// False when it failed, which has been noted then.
    bool good(const Result<protocol::RemotingCommand>& answer, std::initializer_list<int> codes, const char* what,
              std::chrono::steady_clock::time_point began, std::chrono::milliseconds limit);
    void fail(const std::string& what);

    const std::uint16_t port_;
    const std::string topic_;
    std::atomic<bool> sending_{true};
    std::atomic<bool> asking_{true};
    std::atomic<bool> pulling_{true};
    std::atomic<std::uint64_t> sent_{0};
    std::atomic<std::uint64_t> pulled_{0};
    std::atomic<std::uint64_t> asked_{0};
    std::atomic<std::int64_t> slowestMs_{0};
    std::vector<std::thread> senders_;
    std::vector<std::thread> others_;
    int pullers_ = 0;
    std::mutex mutex_;
    std::string failures_;   // guarded by mutex_
    std::vector<std::int64_t> ends_;   // by queue: one past the last acknowledged; guarded by mutex_
};

}  // namespace patchbay::test
