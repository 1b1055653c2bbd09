// OffsetStore: how far a group has come in its queues.
#pragma once

#include "instance/ClientInstance.h"
#include "patchbay/client/ConsumerOptions.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace patchbay::client {

/// Loop thread. What is told is kept in memory and written by persist().
class OffsetStore {
public:
    /// Nothing: the group has no progress there.
    using Read = std::function<void(Result<std::optional<std::int64_t>>)>;
    using Written = std::function<void(const Status&)>;
    virtual ~OffsetStore() = default;

    /// What is written, without what memory says.
    virtual void read(const MessageQueue& queue, Read done) = 0;
    /// `done` (may be empty) is told when all is written or has failed. What failed is written by the next call.
    virtual void persist(const Written& done) = 0;

    void update(const MessageQueue& queue, std::int64_t offset, bool onlyForward = true);
    /// Later updates of the queue are ignored until forget().
    void freeze(const MessageQueue& queue, std::int64_t offset);
    [[nodiscard]] std::int64_t known(const MessageQueue& queue) const;
    /// Writes it once more and forgets it then.
    void forget(const MessageQueue& queue, const std::function<void()>& done = {});

protected:
    struct Entry {
        std::int64_t offset = -1;
        std::int64_t written = -1;
        bool frozen = false;
    };
    virtual void write(const MessageQueue& queue, std::int64_t offset, Written done) = 0;
    std::map<MessageQueue, Entry> entries_;
};

/// Kept by the broker.
[[nodiscard]] std::unique_ptr<OffsetStore> makeRemoteOffsets(ClientInstance& instance, std::string group);
/// Kept in <directory>/<client id>/<group>/offsets.json, in the form of Java's client. A file that cannot be read is replaced by its backup, or by
/// nothing, with a line in the log.
[[nodiscard]] std::unique_ptr<OffsetStore> makeLocalOffsets(ClientInstance& instance, const std::string& group, const std::string& directory);

}  // namespace patchbay::client
