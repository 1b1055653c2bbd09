// JournaledFile: a JSON file whose changes are appended to a journal beside it, so that a change costs its own size.
#pragma once

#include "patchbay/plugin/Plugin.h"
#include "patchbay/protocol/json/Value.h"
#include "patchbay/protocol/route/DataVersion.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::plugins::topics {

/// When the journal is synced and folded; see TopicsConfig.
struct JournalRules {
    std::chrono::milliseconds sync{1000};
    std::chrono::milliseconds quiet{60'000};
    std::uint64_t bytesMax = 1U << 20;
};

/// Keeps topics.json (or subscriptionGroup.json) as RocketMQ writes it, and behind it `topics.json.journal` with the changes
/// since then. A change is written, not synced, when append() returns: it survives a killed process; a sync follows by timer.
/// Folding writes the whole file atomically, with a .bak, and empties the journal: when it is large, after a quiet time, and in
/// stop(), so that a Java broker that opens the directory after a clean stop sees everything.
///
/// Every line of the journal carries the table's version after the change, the first line the version of the JSON that it
/// continues. So a crash between the steps of a fold, or a foreign broker that wrote the JSON meanwhile, is recognised.
///
/// Owned by a table, which holds lockChanges() around append() and the change of itself. Folding runs on the control executor, or in
/// foldNow(), and holds that lock only while it takes the text. A failed append changes nothing; a failed fold is logged and tried again.
class JournaledFile {
public:
    /// A change read back from the journal: either `put` exists or `removed` is a name.
    struct Change {
        protocol::DataVersion version;
        json::Value put;
        std::string_view removed;
        /// Somebody else has written the JSON since; only what it lacks may be taken over.
        bool onlyIfMissing = false;
    };
    /// Takes over the text of the JSON file and says its version.
    using AcceptText = std::function<Result<protocol::DataVersion>(std::string_view text)>;
    using ApplyChange = std::function<void(const Change&)>;
    /// The whole table with its version. Called with lockChanges() held.
    using WholeText = std::function<std::string(protocol::DataVersion& version)>;

    JournaledFile(plugin::PluginContext& context, const std::string& fileName, JournalRules rules, WholeText wholeText);

    /// Reads the JSON, or its backup, and replays the journal. Once, before anything else.
    Status load(const AcceptText& accept, const ApplyChange& apply);
    /// Folds what is left. Timers must be cancelled. Nothing may follow.
    void stop() noexcept;

    /// For changes that others must find in the file at once. Without the lock; any thread. A failure is logged and tried again later.
    void foldNow() { static_cast<void>(foldAndLog()); }

    [[nodiscard]] std::unique_lock<std::mutex> lockChanges() { return std::unique_lock(changeMutex_); }
    /// Lock held. `version` is the table's after the change, `json` the new state of the entry.
    Status appendPut(const protocol::DataVersion& version, std::string_view json);
    Status appendRemoval(const protocol::DataVersion& version, std::string_view name);

private:
    struct Line;

    Status append(const protocol::DataVersion& version, std::string_view key, std::string_view value);
    Status open();
    void schedule();
    void syncNow();
    void foldWhenQuiet();
    Status fold();
    Status foldAndLog();
    /// The size of the whole lines; what is behind them was never finished.
    std::uint64_t replay(std::string_view text, bool fromBackup, const protocol::DataVersion& version, const ApplyChange& apply);

    plugin::PluginContext& context_;
    const std::string path_;
    const JournalRules rules_;
    const WholeText wholeText_;

    bool nameSynced_ = false;  // control executor only: whether a power cut leaves the journal in its directory

    std::mutex foldMutex_;  // one fold at a time; taken before changeMutex_

    std::mutex changeMutex_;  // guards all below, and the owner's changes
    std::unique_ptr<File> journal_;
    protocol::DataVersion baseVersion_;
    std::uint64_t size_ = 0;      // of the journal
    std::uint64_t folded_ = 0;    // the part of it that is in the JSON already
    std::uint64_t jsonSize_ = 0;
    MonotonicTime lastChange_{};
    bool syncPending_ = false;
    bool quietPending_ = false;
    bool foldPending_ = false;
};

}  // namespace patchbay::plugins::topics
