#include "patchbay/testkit/FakeRuntime.h"

#include <algorithm>
#include <optional>

namespace patchbay::testkit {

plugin::TimerId FakeTimers::add(std::chrono::milliseconds delay, std::chrono::milliseconds interval, plugin::Task task) {
    const std::lock_guard lock(mutex_);
    timers_.emplace(++lastId_, Entry{clock_.now() + delay, interval, std::move(task)});
    return lastId_;
}

plugin::TimerId FakeTimers::every(std::chrono::milliseconds first, std::chrono::milliseconds interval, plugin::Task task) {
    PATCHBAY_ASSERT(interval.count() > 0);
    return add(first, interval, std::move(task));
}

plugin::TimerId FakeTimers::after(std::chrono::milliseconds delay, plugin::Task task) {
    return add(delay, std::chrono::milliseconds(0), std::move(task));
}

void FakeTimers::cancel(plugin::TimerId id) noexcept {
    const std::lock_guard lock(mutex_);
    timers_.erase(id);
}

void FakeTimers::post(plugin::Task task) {
    const std::lock_guard lock(mutex_);
    posted_.push_back(std::move(task));
}

bool FakeTimers::runOne() {
    plugin::Task task;
    {
        const std::lock_guard lock(mutex_);
        if (!posted_.empty()) {
            task = std::move(posted_.front());
            posted_.pop_front();
        } else {
            const auto earliest = std::min_element(timers_.begin(), timers_.end(), [](const auto& a, const auto& b) { return a.second.due < b.second.due; });
            if (earliest == timers_.end() || earliest->second.due > clock_.now()) return false;
            Entry& entry = earliest->second;
            if (entry.interval.count() > 0) {
                task = entry.task;
                entry.due = clock_.now() + entry.interval;
            } else {
                task = std::move(entry.task);
                timers_.erase(earliest);
            }
        }
    }
    task();
    return true;
}

MonotonicTime FakeTimers::nextDue() const {
    const std::lock_guard lock(mutex_);
    MonotonicTime next = MonotonicTime::max();
    for (const auto& [id, entry] : timers_) next = std::min(next, entry.due);
    return next;
}

void FakeTimers::cancelAll() {
    const std::lock_guard lock(mutex_);
    timers_.clear();
    posted_.clear();
}

std::size_t FakeTimers::count() const {
    const std::lock_guard lock(mutex_);
    return timers_.size();
}

std::vector<FakeLogger::Line> FakeLogger::lines() const {
    const std::lock_guard lock(mutex_);
    return lines_;
}

bool FakeLogger::contains(std::string_view text) const {
    const std::lock_guard lock(mutex_);
    return std::any_of(lines_.begin(), lines_.end(), [&](const Line& line) { return line.text.find(text) != std::string::npos; });
}

std::size_t FakeLogger::count(plugin::LogLevel level) const {
    const std::lock_guard lock(mutex_);
    return static_cast<std::size_t>(std::count_if(lines_.begin(), lines_.end(), [&](const Line& line) { return line.level == level; }));
}

std::size_t FakeLogger::count(std::string_view message) const {
    const std::lock_guard lock(mutex_);
    return static_cast<std::size_t>(std::count_if(lines_.begin(), lines_.end(), [&](const Line& line) { return line.text.starts_with(message); }));
}

std::size_t FakeLogger::countLimited(std::string_view message) const {
    const std::lock_guard lock(mutex_);
    const auto known = limited_.find(message);
    return known == limited_.end() ? 0 : known->second;
}

void FakeLogger::clear() {
    const std::lock_guard lock(mutex_);
    lines_.clear();
    limited_.clear();
}

void FakeLogger::write(plugin::LogLevel level, std::string_view line) noexcept {
    const std::lock_guard lock(mutex_);
    lines_.push_back({level, std::string(line)});
}

bool FakeLogger::admit(std::string_view message, std::uint64_t& hidden) noexcept {
    const std::lock_guard lock(mutex_);
    ++limited_[std::string(message)];
    hidden = 0;
    return true;
}

plugin::Counter& FakeMetrics::counter(std::string_view name, std::string_view help) {
    const std::lock_guard lock(mutex_);
    Entry& entry = counters_[std::string(name)];
    if (entry.help.empty()) entry.help = help;
    return entry.counter;
}

void FakeMetrics::visit(const std::function<void(std::string_view, std::string_view, std::uint64_t)>& each) const {
    const std::lock_guard lock(mutex_);
    for (const auto& [name, entry] : counters_) each(name, entry.help, entry.counter.value());
}

std::uint64_t FakeMetrics::value(std::string_view name) const {
    const std::lock_guard lock(mutex_);
    const auto at = counters_.find(name);
    return at == counters_.end() ? 0 : at->second.counter.value();
}

void FakeRemoting::invoke(const std::string& hostPort, protocol::RemotingCommand command, std::chrono::milliseconds timeout,
                          plugin::InvokeDone done) {
    Handler handler;
    Call call{hostPort, std::move(command), timeout};
    std::size_t index = 0;
    {
        const std::lock_guard lock(mutex_);
        handler = handler_;
        index = calls_.size();
        calls_.push_back(call);
        waiting_.push_back(std::move(done));
    }
    if (handler) {
        answer(index, handler(call));
    } else {
        timers_.after(timeout, [this, index] { answer(index, Status(StatusCode::DeadlineExceeded, "no answer in time")); });
    }
}

void FakeRemoting::setHandler(Handler handler) {
    const std::lock_guard lock(mutex_);
    handler_ = std::move(handler);
}

std::vector<FakeRemoting::Call> FakeRemoting::calls() const {
    const std::lock_guard lock(mutex_);
    return calls_;
}

void FakeRemoting::answer(std::size_t index, Result<protocol::RemotingCommand> with) {
    plugin::InvokeDone done;
    {
        const std::lock_guard lock(mutex_);
        PATCHBAY_ASSERT(index < waiting_.size());
        done = std::exchange(waiting_[index], nullptr);
    }
    if (!done) return;
    timers_.post([done = std::move(done), with = std::move(with)]() mutable { done(std::move(with)); });
}

namespace {

class CountedLease final : public plugin::Lease {
public:
    explicit CountedLease(std::shared_ptr<std::atomic<std::size_t>> count) : count_(std::move(count)) { count_->fetch_add(1); }
    ~CountedLease() override { count_->fetch_sub(1); }

private:
    std::shared_ptr<std::atomic<std::size_t>> count_;
};

}  // namespace

Status FakeServices::publishRaw(const plugin::ServiceId& id, void* service) {
    if (!services_.emplace(id.toString(), service).second) {
        return {StatusCode::AlreadyExists, "service " + id.toString() + " has a provider"};
    }
    published_.push_back(id.toString());
    return Status::ok();
}

void FakeServices::forgetPublished() {
    for (const auto& id : std::exchange(published_, {})) services_.erase(id);
}

Result<void*> FakeServices::acquireRaw(const plugin::ServiceId& id, Ref<plugin::Lease>& lease) {
    const auto at = services_.find(id.toString());
    if (at == services_.end()) return Status(StatusCode::NotFound, "nobody provides " + id.toString());
    lease = Ref<plugin::Lease>::adopt(new CountedLease(leases_));
    return at->second;
}

}  // namespace patchbay::testkit
