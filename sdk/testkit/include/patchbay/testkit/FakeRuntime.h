// Fakes of what the kernel lends to plugins: timers, log, counters, calls to other servers, the service registry.
#pragma once

#include "patchbay/plugin/Logger.h"
#include "patchbay/plugin/Runtime.h"
#include "patchbay/plugin/Services.h"
#include "patchbay/testkit/ManualClock.h"

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::testkit {

/// Timers that run on the test's thread, when FakeContext::advance() or pump() lets them. Adding and cancelling is thread-safe.
class FakeTimers final : public plugin::Timers {
public:
    explicit FakeTimers(ManualClock& clock) : clock_(clock) {}

    plugin::TimerId every(std::chrono::milliseconds first, std::chrono::milliseconds interval, plugin::Task task) override;
    plugin::TimerId after(std::chrono::milliseconds delay, plugin::Task task) override;
    void cancel(plugin::TimerId id) noexcept override;
    void post(plugin::Task task) override;

    /// Runs one task that is due or posted; false when there is none.
    bool runOne();
    /// The time of the next task, or MonotonicTime::max().
    [[nodiscard]] MonotonicTime nextDue() const;
    void cancelAll();
    /// Timers that are set now, without posted tasks.
    [[nodiscard]] std::size_t count() const;

private:
    struct Entry {
        MonotonicTime due;
        std::chrono::milliseconds interval;
        plugin::Task task;
    };
    plugin::TimerId add(std::chrono::milliseconds delay, std::chrono::milliseconds interval, plugin::Task task);

    ManualClock& clock_;
    mutable std::mutex mutex_;
    std::map<plugin::TimerId, Entry> timers_;
    std::deque<plugin::Task> posted_;
    plugin::TimerId lastId_ = 0;
};

/// Keeps every line. limited() hides nothing. Thread-safe.
class FakeLogger final : public plugin::Logger {
public:
    struct Line {
        plugin::LogLevel level;
        std::string text;
    };
    [[nodiscard]] bool enabled(plugin::LogLevel) const noexcept override { return true; }
    [[nodiscard]] std::vector<Line> lines() const;
    /// True when a line contains the text.
    [[nodiscard]] bool contains(std::string_view text) const;
    [[nodiscard]] std::size_t count(plugin::LogLevel level) const;
    /// How many lines began with this message, and how many of them came by limited().
    [[nodiscard]] std::size_t count(std::string_view message) const;
    [[nodiscard]] std::size_t countLimited(std::string_view message) const;
    void clear();

protected:
    void write(plugin::LogLevel level, std::string_view line) noexcept override;
    bool admit(std::string_view message, std::uint64_t& hidden) noexcept override;

private:
    mutable std::mutex mutex_;
    std::vector<Line> lines_;
    std::map<std::string, std::size_t, std::less<>> limited_;
};

/// Thread-safe.
class FakeMetrics final : public plugin::Metrics {
public:
    plugin::Counter& counter(std::string_view name, std::string_view help) override;
    void visit(const std::function<void(std::string_view, std::string_view, std::uint64_t)>& each) const override;
    /// 0 for a counter that nobody made.
    [[nodiscard]] std::uint64_t value(std::string_view name) const;

private:
    struct Entry {
        std::string help;
        plugin::Counter counter;
    };
    mutable std::mutex mutex_;
    std::map<std::string, Entry, std::less<>> counters_;
};

/// Records calls to other servers. A handler answers them at the next pump(); without one they wait for answer(), or for their
/// timeout on the manual clock. Thread-safe.
class FakeRemoting final : public plugin::RemotingInvoker {
public:
    struct Call {
        std::string hostPort;
        protocol::RemotingCommand command;
        std::chrono::milliseconds timeout{};
    };
    using Handler = std::function<Result<protocol::RemotingCommand>(const Call&)>;

    explicit FakeRemoting(FakeTimers& timers) : timers_(timers) {}
    void invoke(const std::string& hostPort, protocol::RemotingCommand command, std::chrono::milliseconds timeout,
                plugin::InvokeDone done) override;

    void setHandler(Handler handler);
    [[nodiscard]] std::vector<Call> calls() const;
    /// Ends call number `index`, at the next pump(); a call that has ended is left alone.
    void answer(std::size_t index, Result<protocol::RemotingCommand> with);

private:
    FakeTimers& timers_;
    mutable std::mutex mutex_;
    Handler handler_;
    std::vector<Call> calls_;
    std::vector<plugin::InvokeDone> waiting_;
};

/// The registry, without manifests: everything may be published and asked for. Counts leases.
class FakeServices final : public plugin::Services {
public:
    /// Offers a test's own implementation under T::kId; replaces what was there.
    template <typename T>
    void provide(T& service) { services_[T::kId.toString()] = static_cast<T*>(&service); }
    /// Takes an offer back, e.g. to test an unmet want.
    template <typename T>
    void withdraw() { services_.erase(T::kId.toString()); }
    /// The current provider or null; takes no lease.
    template <typename T>
    [[nodiscard]] T* find() const {
        const auto at = services_.find(T::kId.toString());
        return at == services_.end() ? nullptr : static_cast<T*>(at->second);
    }
    /// Forgets what plugins published; what the test provided stays.
    void forgetPublished();
    /// ServiceRefs that are out now.
    [[nodiscard]] std::size_t leases() const noexcept { return leases_->load(); }

protected:
    Status publishRaw(const plugin::ServiceId& id, void* service) override;
    Result<void*> acquireRaw(const plugin::ServiceId& id, Ref<plugin::Lease>& lease) override;

private:
    std::map<std::string, void*, std::less<>> services_;
    std::vector<std::string> published_;
    std::shared_ptr<std::atomic<std::size_t>> leases_ = std::make_shared<std::atomic<std::size_t>>(0);
};

}  // namespace patchbay::testkit
