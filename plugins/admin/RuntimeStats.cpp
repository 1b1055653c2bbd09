#include "RuntimeStats.h"

#include <cstdio>
#include <ctime>

namespace patchbay::plugins::admin {

namespace {

std::int64_t localDay(std::int64_t wallMs) {
    const std::time_t seconds = wallMs / 1000;
    std::tm local{};
    localtime_r(&seconds, &local);
    return (seconds + local.tm_gmtoff) / 86'400;
}

void appendRate(std::string& out, std::int64_t count, std::chrono::nanoseconds over) {
    const double seconds = std::chrono::duration<double>(over).count();
    char text[64];
    std::snprintf(text, sizeof text, "%s%.4f", out.empty() ? "" : " ", seconds > 0 ? static_cast<double>(count) / seconds : 0.0);
    out += text;
}

}  // namespace

RuntimeStats::Sample RuntimeStats::look() const {
    const auto stats = store_.stats();
    const service::TimerFigures timers = timers_ != nullptr ? timers_->figures() : service::TimerFigures{};
    return {clock_.now(), stats.messagesAppended, stats.messagesRead, stats.readsFound, stats.readsMissed, timers.taken, timers.delivered,
            stats.times.value_or(service::StoreTimeFigures{}).appends};
}

void RuntimeStats::sample() {
    const Sample now = look();
    const std::int64_t today = localDay(clock_.wallMs());
    const std::lock_guard lock(mutex_);
    samples_.push_back(now);
    if (samples_.size() > kKept) samples_.pop_front();
    if (today != day_) {
        if (day_ != -1) days_ = {days_.putToday, now.put, days_.gotToday, now.got};
        day_ = today;
    }
}

RuntimeStats::Rates RuntimeStats::rates() const {
    const Sample now = look();
    const std::lock_guard lock(mutex_);
    Rates rates;
    // One interval more than is asked for: right after a look the last one would be empty.
    for (const std::size_t back : {std::size_t{2}, kMinuteBack, std::size_t{61}}) {
        const Sample& then = samples_.empty() ? now : samples_[samples_.size() > back ? samples_.size() - back : 0];
        const auto over = now.at - then.at;
        appendRate(rates.put, now.put - then.put, over);
        appendRate(rates.got, now.got - then.got, over);
        appendRate(rates.found, now.found - then.found, over);
        appendRate(rates.missed, now.missed - then.missed, over);
        appendRate(rates.reads, now.found - then.found + now.missed - then.missed, over);
        const double seconds = std::chrono::duration<double>(over).count();
        if (back != 2 || seconds <= 0) continue;
        rates.timersTaken = static_cast<double>(now.timersTaken - then.timersTaken) / seconds;
        rates.timersDelivered = static_cast<double>(now.timersDelivered - then.timersDelivered) / seconds;
    }
    return rates;
}

decltype(service::StoreTimeFigures::appends) RuntimeStats::appendsOfMinute(const service::StoreTimeFigures& now) const {
    auto counts = now.appends;
    const std::lock_guard lock(mutex_);
    if (samples_.empty()) return counts;
    const Sample& then = samples_[samples_.size() > kMinuteBack ? samples_.size() - kMinuteBack : 0];
    for (std::size_t i = 0; i < counts.size(); ++i) counts[i] -= then.appends[i];
    return counts;
}

RuntimeStats::Days RuntimeStats::days() const {
    const std::lock_guard lock(mutex_);
    return days_;
}

}  // namespace patchbay::plugins::admin
