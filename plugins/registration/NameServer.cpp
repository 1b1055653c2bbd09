#include "NameServer.h"

#include <algorithm>
#include <array>

namespace patchbay::plugins::registration {

namespace {

// The first ones are short because the name server of this very process opens its port a moment after we start.
constexpr std::array<std::chrono::milliseconds, 12> kRetryDelays{
    std::chrono::milliseconds(10),  std::chrono::milliseconds(20),  std::chrono::milliseconds(50),
    std::chrono::milliseconds(50),  std::chrono::milliseconds(50),  std::chrono::milliseconds(50),
    std::chrono::milliseconds(100), std::chrono::milliseconds(200), std::chrono::milliseconds(500),
    std::chrono::milliseconds(1'000), std::chrono::milliseconds(2'000), std::chrono::milliseconds(5'000)};

// A server that was never reached is worth a warning only after these, about a second: it may be starting as well.
constexpr std::size_t kPatience = 9;

}  // namespace

void NameServer::wantAll(bool changed) noexcept {
    all_ = true;
    forced_ = forced_ || changed;
}

void NameServer::topicChanged(std::string_view topic) {
    // Telling all includes it, unless that is under way already and has passed it by.
    if (all_ && !busy_) {
        forced_ = true;
        return;
    }
    changes_.emplace(topic);
}

NameServer::Work NameServer::next(MonotonicTime now) const noexcept {
    if (busy_ || waiting_ || leaving_ || left_) return Work::None;
    if (!chunks_.empty()) return Work::Rest;
    if (all_) return Work::All;
    if (query_) return Work::Query;
    if (!changes_.empty() && !gapLeft(now)) return Work::Changes;
    return Work::None;
}

std::optional<std::chrono::milliseconds> NameServer::gapLeft(MonotonicTime now) const noexcept {
    if (changes_.empty() || now - lastBegin_ >= kChangesGap) return std::nullopt;
    return std::chrono::ceil<std::chrono::milliseconds>(kChangesGap - (now - lastBegin_));
}

void NameServer::begin(Work work, MonotonicTime now) noexcept {
    busy_ = true;
    lastBegin_ = now;
    if (work == Work::All) {
        all_ = query_ = false;
        forced_ = forced_ || !changes_.empty();
        changes_.clear();
    } else if (work == Work::Query) {
        query_ = false;
    } else if (work == Work::Changes) {
        forced_ = true;
    }
}

protocol::TopicConfigTable NameServer::takeChunk() {
    protocol::TopicConfigTable chunk = std::move(chunks_.front());
    chunks_.pop_front();
    return chunk;
}

protocol::DataVersion NameServer::versionToTell(protocol::DataVersion current, std::int64_t& bumps) noexcept {
    current.counter += bumps;
    if (forced_ && told_ == current) {
        ++bumps;
        ++current.counter;
    }
    told_ = current;
    // The pieces of one forced registration have to differ from each other as well.
    if (chunks_.empty()) forced_ = false;
    return current;
}

NameServer::Turn NameServer::succeeded() noexcept {
    busy_ = false;
    failures_ = 0;
    return std::exchange(link_, Link::Up) == Link::Up ? Turn::Same : Turn::Up;
}

NameServer::Turn NameServer::failed() noexcept {
    busy_ = false;
    waiting_ = true;
    ++failures_;
    chunks_.clear();
    changes_.clear();
    wantAll(true);
    const bool worthSaying = link_ == Link::Up || (link_ == Link::Unknown && failures_ >= kPatience);
    if (!worthSaying) return Turn::Same;
    link_ = Link::Down;
    return Turn::Down;
}

std::chrono::milliseconds NameServer::retryDelay() const noexcept {
    return kRetryDelays[std::min(failures_, kRetryDelays.size()) - 1];
}

}  // namespace patchbay::plugins::registration
