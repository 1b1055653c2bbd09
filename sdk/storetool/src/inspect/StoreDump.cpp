// storeDump: the messages of a log, one line each.
#include "Line.h"
#include "RecordWalk.h"

#include "patchbay/protocol/message/Properties.h"

#include <array>

namespace patchbay::storetool {

namespace {

constexpr std::int64_t kProgressBytes = 8 << 20;

bool isText(std::string_view bytes) noexcept {
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 && c != '\n' && c != '\t' && c != '\r') return false;
        if (byte >= 0x7F) return false;
    }
    return true;
}

std::string hexOf(std::string_view bytes) {
    static constexpr std::string_view kDigits = "0123456789abcdef";
    std::string text = "hex:";
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        (text += kDigits[byte >> 4]) += kDigits[byte & 15];
    }
    return text;
}

/// Properties as "name=value" with semicolons between.
std::string propertiesOf(std::string_view properties) {
    std::string text;
    protocol::PropertyReader reader(properties);
    for (std::string_view name, value; reader.next(name, value);) {
        if (!text.empty()) text += ';';
        text.append(name).append("=").append(value);
    }
    return text;
}

Line lineOf(const protocol::RecordView& record, const DumpFilter& filter, bool json) {
    Line line(json, "message");
    line.add("position", record.physicalOffset).add("bytes", std::int64_t{record.size});
    line.add("topic", record.topic).add("queue", std::int64_t{record.queueId}).add("offset", record.queueOffset);
    line.add("stored", timeText(record.storeTimestamp)).add("born", timeText(record.bornTimestamp));
    line.add("bornHost", record.bornHost().toString()).add("storeHost", record.storeHost().toString());
    line.add("flag", std::int64_t{record.flag}).add("sysFlag", std::int64_t{record.sysFlag});
    line.add("reconsumeTimes", std::int64_t{record.reconsumeTimes});
    line.add("preparedOffset", record.preparedTransactionOffset).add("bodyBytes", static_cast<std::int64_t>(record.body.size()));
    line.add("properties", propertiesOf(record.properties));
    if (filter.bodies) line.add("body", isText(record.body) ? std::string(record.body) : hexOf(record.body));
    return line;
}

}  // namespace

Result<std::int64_t> storeDump(const StoreToolOptions& options, const DumpFilter& filter, const LineSink& out,
                               const ToolWatcher& watcher) {
    Result<StoreFiles> store = StoreFiles::open(systemFiles(), options);
    if (!store) return store.error();
    RecordWalk walk(*store, filter.fromPosition);
    const std::int64_t from = walk.position();
    const std::int64_t end = store->log().empty() ? 0 : store->log().back().start + store->log().back().bytes;
    std::int64_t written = 0;
    std::int64_t said = from;
    while (written < filter.messagesMax) {
        const Result<RecordWalk::Step> step = walk.next();
        if (!step) return step.error();
        if (*step == RecordWalk::Step::End) break;
        if (watcher && walk.position() - said >= kProgressBytes) {
            said = walk.position();
            if (!watcher({"commit log", said - from, end - from})) return Status(StatusCode::Cancelled, "given up");
        }
        if (*step == RecordWalk::Step::Damage) {
            Line line(options.json, "damage");
            line.add("file", walk.file()->path).add("fileOffset", walk.position() - walk.file()->start).add("what", walk.what());
            if (Status put = std::move(line).to(out); !put) return put;
            continue;
        }
        const protocol::RecordView& record = walk.record();
        const bool wanted = (filter.topic.empty() || record.topic == filter.topic) &&
                            (filter.queueId < 0 || record.queueId == filter.queueId) && record.storeTimestamp >= filter.fromMs &&
                            record.storeTimestamp <= filter.toMs;
        if (!wanted) continue;
        if (Status put = lineOf(record, filter, options.json).to(out); !put) return put;
        ++written;
    }
    return written;
}

}  // namespace patchbay::storetool
