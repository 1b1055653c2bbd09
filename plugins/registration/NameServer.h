// NameServer: what one name server has been told, and what it still has to be told.
#pragma once

#include "patchbay/base/Clock.h"
#include "patchbay/protocol/route/DataVersion.h"
#include "patchbay/protocol/route/TopicConfig.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>


namespace patchbay::plugins::registration {

/// The book of one name server: one request at a time is on its way to it; what comes up meanwhile is gathered for the next.
/// Without threads, clocks or sockets of its own; guarded by the Registrar's lock.
class NameServer {
public:
    enum class Work : std::uint8_t {
        None,
        Query,    ///< ask whether it has the current version
        All,      ///< begin to tell all topics
        Changes,  ///< tell the topics that changed
        Rest,     ///< go on with what was split
    };

    /// Changes that come close upon each other are told together: at most one such registration in this time.
    static constexpr std::chrono::milliseconds kChangesGap{10};

    explicit NameServer(std::string address) : address_(std::move(address)) {}

    [[nodiscard]] const std::string& address() const noexcept { return address_; }

    // What to tell.
    /// Everything; `changed` when its contents may differ although the version says otherwise.
    void wantAll(bool changed) noexcept;
    void wantQuery() noexcept { query_ = true; }
    void topicChanged(std::string_view topic);

    /// What to send now. None also while a request is on its way, while waiting after a failure, or within the gap.
    [[nodiscard]] Work next(MonotonicTime now) const noexcept;
    /// How long until a change may be sent; nothing when none waits for that.
    [[nodiscard]] std::optional<std::chrono::milliseconds> gapLeft(MonotonicTime now) const noexcept;

    // Taking work: the request counts as on its way from here to succeeded() or failed().
    void begin(Work work, MonotonicTime now) noexcept;
    [[nodiscard]] std::set<std::string, std::less<>> takeChanges() noexcept { return std::exchange(changes_, {}); }
    void setChunks(std::deque<protocol::TopicConfigTable> chunks) noexcept { chunks_ = std::move(chunks); }
    [[nodiscard]] protocol::TopicConfigTable takeChunk();
    /// The version to send along: a name server takes changes of topics it knows only with a version it does not have yet, so
    /// when it would see the same one again `bumps`, which is added to all counters, grows.
    [[nodiscard]] protocol::DataVersion versionToTell(protocol::DataVersion current, std::int64_t& bumps) noexcept;

    // How it ended.
    enum class Turn : std::uint8_t { Same, Up, Down };  ///< what is worth a line in the log
    Turn succeeded() noexcept;
    /// All will be told again, after retryDelay().
    Turn failed() noexcept;
    [[nodiscard]] std::chrono::milliseconds retryDelay() const noexcept;
    void retryNow() noexcept { waiting_ = false; }

    // Leaving for good.
    [[nodiscard]] bool busy() const noexcept { return busy_; }
    /// Whether it may know this broker.
    [[nodiscard]] bool mayKnowUs() const noexcept { return told_.has_value(); }
    void beginLeaving() noexcept { busy_ = leaving_ = true; }
    [[nodiscard]] bool leaving() const noexcept { return leaving_; }
    void setLeft() noexcept { left_ = true; }
    [[nodiscard]] bool left() const noexcept { return left_; }

private:
    enum class Link : std::uint8_t { Unknown, Up, Down };

    std::string address_;
    std::set<std::string, std::less<>> changes_;
    std::deque<protocol::TopicConfigTable> chunks_;
    std::optional<protocol::DataVersion> told_;
    MonotonicTime lastBegin_{};
    std::size_t failures_ = 0;  // in a row
    Link link_ = Link::Unknown;
    bool all_ = true;
    bool query_ = false;
    bool forced_ = true;        // the next version has to be one that the server has not seen
    bool busy_ = false;
    bool waiting_ = false;
    bool leaving_ = false;
    bool left_ = false;
};

}  // namespace patchbay::plugins::registration
