// RetryPolicy: where messages go that consumers send to their group's retry topic themselves.
#pragma once

#include "patchbay/plugin/Services.h"
#include "patchbay/protocol/ResponseCode.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace patchbay::service {

/// What a send to %RETRY%group says.
struct RetrySend {
    std::string_view topic;
    std::int32_t reconsumeTimes = 0;
    std::optional<std::int32_t> maxReconsumeTimes;   ///< the client's own limit; old clients' is not heeded
    std::int32_t clientVersion = 0;                  ///< of the request
};

struct RetryVerdict {
    protocol::ResponseCode code{};   ///< anything but Success: refuse, with `remark`
    std::string remark;
    std::string deadLetterTopic;     ///< not empty: the retries are used up; store it there, in queue 0, without delay
};

/// Thread-safe. Without a provider such messages are stored like all others.
class RetryPolicy {
public:
    static constexpr plugin::ServiceId kId{"patchbay.RetryPolicy", 1};
    virtual ~RetryPolicy();

    /// Creates the dead-letter topic when it is needed.
    [[nodiscard]] virtual RetryVerdict judge(const RetrySend& send) = 0;
};

}  // namespace patchbay::service
