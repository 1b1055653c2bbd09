// OpenedStore: a store of either kind, opened by a tool.
#pragma once

#include "patchbay/base/FileSystem.h"
#include "patchbay/plugin/Logger.h"
#include "patchbay/service/MessageStore.h"
#include "patchbay/storetool/StoreConvert.h"

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::storetool {

/// Keeps warnings and errors as text; the rest is dropped.
class NotesLogger final : public plugin::Logger {
public:
    [[nodiscard]] bool enabled(plugin::LogLevel level) const noexcept override { return level >= plugin::LogLevel::Warn; }
    [[nodiscard]] std::vector<std::string> notes() const;

protected:
    void write(plugin::LogLevel level, std::string_view line) noexcept override;
    bool admit(std::string_view, std::uint64_t& hidden) noexcept override { hidden = 0; return true; }

private:
    static constexpr std::size_t kNotesMax = 100;
    mutable std::mutex mutex_;
    std::vector<std::string> notes_;
};

/// Open from its making to its destruction; removes nothing by age meanwhile.
class OpenedStore {
public:
    virtual ~OpenedStore() = default;
    [[nodiscard]] virtual service::MessageStore& store() noexcept = 0;
    /// Whether a record of the topic's queues may hold several messages. Corrupt where its queues contradict each other.
    [[nodiscard]] virtual Result<bool> hasBatchQueues(std::string_view topic) const = 0;

    /// Sizes of an mmap store's files are taken from the files where there are any. Topics of `options.batchTopics` that have
    /// no queues get batch queues.
    static Result<std::unique_ptr<OpenedStore>> open(const StorePlace& place, const ConvertOptions& options, FileSystem& files,
                                                     plugin::Logger& log);
    /// Whether there is a store at a place, as far as its files tell.
    static bool exists(const StorePlace& place, FileSystem& files);
};

}  // namespace patchbay::storetool
