#include "SqliteSink.h"

#include "Recovery.h"

namespace patchbay::storetool {

namespace {

constexpr std::int64_t kBytesOfACommit = 16 << 20;

}  // namespace

Result<std::unique_ptr<RecordSink>> SqliteSink::open(const std::string& directory) {
    plugins::sqlite::StoreSettings settings;
    settings.directory = directory;
    auto tables = plugins::sqlite::MessageTables::open(directory + "/messages.db", settings);
    if (!tables) return tables.error();
    return std::unique_ptr<RecordSink>(new SqliteSink(std::move(*tables)));
}

Status SqliteSink::begin(const std::vector<OrderedReader::QueueRange>& queues) {
    if (Status status = tables_.begin(); !status) return status;
    for (const auto& queue : queues) {
        const auto row = tables_.addQueue(queue.topic, queue.queueId);
        if (!row) return row.error();
        if (Status status = tables_.setQueueOffsets(*row, queue.min, queue.max); !status) return status;
        queues_[queue.topic][queue.queueId] = *row;
    }
    return Status::ok();
}

Status SqliteSink::add(const protocol::RecordView& record) {
    const auto fields = fieldsOf(record);
    service::AppendItem item;
    item.topic = fields.topic;
    item.body = fields.body;
    item.bornHost = fields.bornHost;
    item.storeHost = fields.storeHost;
    item.bornTimestamp = fields.bornTimestamp;
    item.preparedTransactionOffset = fields.preparedTransactionOffset;
    item.tagsCode = mmapstore::tagsCodeOf(record, levels_);
    item.queueId = fields.queueId;
    item.flag = fields.flag;
    item.sysFlag = fields.sysFlag;
    item.reconsumeTimes = fields.reconsumeTimes;
    item.recordBytes = static_cast<std::int32_t>(protocol::recordSize(fields));
    item.queueOffset = fields.queueOffset;
    item.physicalOffset = fields.physicalOffset;
    item.storeTimestamp = fields.storeTimestamp;
    if (firstPhysical_ < 0) firstPhysical_ = item.physicalOffset;
    const auto topic = queues_.find(fields.topic);
    if (topic == queues_.end() || !topic->second.contains(fields.queueId)) {
        return {StatusCode::Internal, "a message of an unlisted queue of topic " + std::string(fields.topic)};
    }
    // Of an empty body nobody checks it.
    const std::int32_t bodyCrc = fields.body.empty() ? 0 : record.bodyCrc;
    if (Status status = tables_.insert(item, topic->second.at(fields.queueId), fields.properties, bodyCrc); !status) return status;
    uncommitted_ += record.size;
    if (uncommitted_ < kBytesOfACommit) return Status::ok();
    uncommitted_ = 0;
    if (Status status = tables_.commit(); !status) return status;
    if (Status status = tables_.checkpoint(); !status) return status;
    return tables_.begin();
}

Status SqliteSink::finish(std::int64_t nextPhysical) {
    if (Status status = tables_.setTrimmed(std::max<std::int64_t>(firstPhysical_, 0), nextPhysical); !status) return status;
    if (Status status = tables_.commit(); !status) return status;
    if (Status status = tables_.flush(); !status) return status;
    return tables_.emptyLog();
}

}  // namespace patchbay::storetool
