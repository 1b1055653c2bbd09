// MessageRow: a message as a row of the table `message`, and back as a record.
#pragma once

#include "Database.h"

#include "patchbay/base/SocketAddress.h"
#include "patchbay/protocol/message/MessageRecord.h"
#include "patchbay/service/AppendRecord.h"

#include <string>
#include <string_view>

namespace patchbay::plugins::sqlite {

/// Columns of a select list that readRow() understands, for an alias `m` of `message` and `s` of `stamp`; topic and queue id come from
/// elsewhere.
inline constexpr std::string_view kRowColumns =
    "m.physical_offset, m.queue_offset, m.store_time, m.tags_code, m.record_bytes, m.born_time, m.flag, m.sys_flag, "
    "m.reconsume_times, m.prepared_offset, m.born_host, coalesce(s.store_host, m.store_host), m.properties, s.properties, m.body, m.body_crc";
inline constexpr std::string_view kRowStamp = " LEFT JOIN stamp AS s ON s.id = m.stamp ";
inline constexpr int kRowColumnCount = 16;
inline constexpr int kTagsCodeColumn = 3;
inline constexpr int kRecordBytesColumn = 4;
inline constexpr int kBodyCrcColumn = 15;
/// `queue_offset` of a message that has no place in its queue: below every minimum, so that no read of a queue and no view comes to it.
inline constexpr std::int64_t kUnqueued = -1;

/// The fields of the row on which the statement stands, whose columns begin with kRowColumns. Views last until its next step.
[[nodiscard]] protocol::RecordFields readRow(const Statement& row, std::string_view topic, std::int32_t queueId);

/// Appends the record of the row on which the statement stands and answers nothing; or appends nothing and answers why it is not what was
/// stored. Of a message that an older version stored, which kept no checksum, only what no record could hold is found.
[[nodiscard]] std::string_view appendRecord(std::string& out, const Statement& row, const protocol::RecordFields& fields);

/// What a look at the properties of a message found; views into them.
struct IndexedProperties {
    std::string_view tags;
    std::string_view keys;
    std::string_view uniqueKey;
    static IndexedProperties of(std::string_view properties) noexcept;
};

/// Calls f(std::string_view key) for each word of KEYS but the unique key.
template <typename F>
void forEachKey(const IndexedProperties& properties, F&& f) {
    std::string_view rest = properties.keys;
    while (!rest.empty()) {
        const auto end = std::min(rest.find(' '), rest.size());
        const auto key = rest.substr(0, end);
        if (!key.empty() && key != properties.uniqueKey) f(key);
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
}

/// Remembers the text of the last address, because neighbours mostly come from the same one.
class HostText {
public:
    const std::string& of(const SocketAddress& address) {
        if (text_.empty() || !(address == last_)) {
            text_ = address.toString();
            last_ = address;
        }
        return text_;
    }

private:
    SocketAddress last_;
    std::string text_;
};

}  // namespace patchbay::plugins::sqlite
