// SqliteSink: a new SQLite store from records, with all their offsets.
#pragma once

#include "RecordSink.h"

#include "MessageTables.h"

#include "patchbay/protocol/message/DelayLevels.h"

#include <map>
#include <string>

namespace patchbay::storetool {

/// Writes `directory`/messages.db, which must not exist.
class SqliteSink final : public RecordSink {
public:
    static Result<std::unique_ptr<RecordSink>> open(const std::string& directory);

    Status begin(const std::vector<OrderedReader::QueueRange>& queues) override;
    Status add(const protocol::RecordView& record) override;
    Status finish(std::int64_t nextPhysical) override;

private:
    explicit SqliteSink(plugins::sqlite::MessageTables tables) : tables_(std::move(tables)) {}

    plugins::sqlite::MessageTables tables_;
    const protocol::DelayLevels levels_ = *protocol::DelayLevels::parse(protocol::kDelayLevelsDefault);
    std::map<std::string, std::map<std::int32_t, std::int64_t>, std::less<>> queues_;  // topic → queue → row
    std::int64_t uncommitted_ = 0;
    std::int64_t firstPhysical_ = -1;
};

}  // namespace patchbay::storetool
