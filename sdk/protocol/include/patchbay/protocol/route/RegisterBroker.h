// The body of a broker's registration (103) in all its forms.
#pragma once

#include "patchbay/protocol/route/TopicConfig.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::protocol {

/// A value type. The compressed form keeps neither topicSysFlag nor order of a topic.
struct RegisterBrokerBody {
    TopicConfigSerializeWrapper topicConfigSerializeWrapper;
    std::vector<std::string> filterServerList;
    bool filterServersSaid = true;   ///< false: null, or the short form, which has none; those of before stay

    void write(json::Writer& out) const;
    static Result<RegisterBrokerBody> read(json::Value value);
    [[nodiscard]] std::string toJson() const { return json::encode(*this); }
    static Result<RegisterBrokerBody> fromJson(std::string_view text) { return json::decode<RegisterBrokerBody>(text); }

    /// The zlib form. `version` is the sender's: from 413 on static topics follow.
    [[nodiscard]] Result<std::string> toCompressed(std::int32_t version) const;
    /// Corrupt when lengths contradict each other, OutOfRange beyond plainBytesMax unpacked bytes.
    static Result<RegisterBrokerBody> fromCompressed(std::string_view body, std::int32_t version,
                                                     std::size_t plainBytesMax = std::size_t{256} << 20);

    /// Any body of 103, by the sender's version and the header's `compressed`: nothing at all, the short form of
    /// versions below 37, JSON, or zlib.
    static Result<RegisterBrokerBody> decode(std::string_view body, std::int32_t version, bool compressed);
};

}  // namespace patchbay::protocol
