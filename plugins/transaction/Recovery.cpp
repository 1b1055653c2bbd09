#include "Recovery.h"

#include "HalfMessage.h"
#include "QueueScan.h"

#include "patchbay/protocol/message/Names.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

namespace patchbay::plugins::transaction {

namespace {

using protocol::kTopicTransHalf;
using protocol::kTopicTransOpHalf;

/// Where to start reading; in the queue's bounds even when the offsets file is older or newer than the store.
std::int64_t startOf(const service::ConsumerOffsets& offsets, std::string_view topic, const service::OffsetRange& range) {
    return std::clamp(offsets.query(kProgressGroup, topic, kQueueId), range.min, range.max);
}

void readOps(service::MessageStore& store, std::int64_t from, std::int64_t end, TransactionTable& table, OpLog& ops) {
    QueueScan scan(store, kTopicTransOpHalf);
    for (std::int64_t at = from; at < end && scan.read(at); at = scan.next()) {
        for (const auto& scanned : scan.records()) {
            if (!scanned.view) continue;
            std::int64_t highest = -1;
            OpLog::forEachOffset(scanned.view->body, [&](std::int64_t half) {
                table.end(half);
                highest = std::max(highest, half);
            });
            ops.recovered(scanned.offset, highest);
        }
    }
    ops.recoveredTo(end);
}

void readHalves(service::MessageStore& store, std::int64_t from, std::int64_t end, TransactionTable& table) {
    QueueScan scan(store, kTopicTransHalf);
    std::unordered_map<std::string, std::int64_t> places;
    for (std::int64_t at = table.nextOpen(from, end); at < end && scan.read(at); at = table.nextOpen(scan.next(), end)) {
        if (scan.records().empty()) table.endRange(at, scan.next());
        for (const auto& scanned : scan.records()) {
            if (!scanned.view || table.nextOpen(scanned.offset, scanned.offset + 1) != scanned.offset) continue;
            const HalfMessage half = HalfMessage::of(*scanned.view);
            std::string key = half.key();
            const auto [place, first] = places.try_emplace(key, scanned.offset);
            if (!half.copied) continue;
            if (!first) table.end(place->second);
            place->second = scanned.offset;
            table.addCopy(std::move(key), {scanned.offset, half.record.physicalOffset});
        }
    }
}

}  // namespace

void recover(service::MessageStore& store, const service::ConsumerOffsets& offsets, TransactionTable& table, OpLog& ops) {
    const auto halves = store.range(kTopicTransHalf, kQueueId);
    const auto written = store.range(kTopicTransOpHalf, kQueueId);
    const std::int64_t base = startOf(offsets, kTopicTransHalf, halves);
    table.begin(base, halves.max);
    readOps(store, startOf(offsets, kTopicTransOpHalf, written), written.max, table, ops);
    readHalves(store, base, halves.max, table);
}

}  // namespace patchbay::plugins::transaction
