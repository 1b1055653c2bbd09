// SlowLink: a TCP port in front of another one, behind a network that takes its time and loses packets.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <list>
#include <random>
#include <string>
#include <thread>

namespace patchbay::test {

/// Listens on one numeric address and connects each caller with another one. Every piece arrives `delay` later, in order; one in a hundred pieces
/// per `lossPercent` is lost and comes with the repetition, `repeat` later, and what was sent behind it waits for it, as TCP's receivers do.
/// One thread; ends with the object, and its connections with it.
class SlowLink {
public:
    struct Manners {
        std::chrono::milliseconds delay{40};
        int lossPercent = 1;
        std::chrono::milliseconds repeat{200};
        /// So often something happens to one of its connections, the three kinds in turn; 0: never.
        std::chrono::milliseconds mischiefEvery{0};
        std::chrono::milliseconds stall{4000};
    };
    enum Mischief : std::size_t { Stall, Reset, HalfClose, kMischiefs };
    SlowLink(const std::string& from, const std::string& to, std::uint16_t port, Manners manners);
    ~SlowLink();
    SlowLink(const SlowLink&) = delete;
    SlowLink& operator=(const SlowLink&) = delete;

    [[nodiscard]] bool listening() const noexcept { return listenFd_ >= 0; }
    /// How often that has happened.
    [[nodiscard]] int count(Mischief kind) const noexcept { return counts_[kind]; }

private:
    using Time = std::chrono::steady_clock::time_point;
    struct Piece {
        Time due;
        std::string bytes;   // empty: the end
    };
    struct Way {
        int from = -1;
        int to = -1;
        std::deque<Piece> pieces;
        bool ended = false;
    };
    struct Pair {
        std::array<Way, 2> ways;
        bool broken = false;
        Time heldUntil{};   // nothing is delivered before
    };

    void run();
    [[nodiscard]] Time nextDue() const;
    void disturb();
    void accept();
    void take(Pair& pair, Way& way);
    /// Writes what is due. Until when there is nothing to do: none when nothing waits.
    void deliver(Pair& pair, Way& way, Time now);

    const std::string to_;
    const std::uint16_t port_;
    const Manners manners_;
    int listenFd_ = -1;
    int endFd_ = -1;
    std::minstd_rand random_{1};
    Time nextMischief_ = Time::max();
    std::size_t mischief_ = 0;
    std::array<std::atomic<int>, kMischiefs> counts_{};
    std::list<Pair> pairs_;   // of the thread
    std::thread thread_;
};

}  // namespace patchbay::test
