// Headers of administration on a broker: topics (17, 202, 215, 217, 300, 351), groups (207, 208, 352), its settings (26).
#pragma once

#include "patchbay/base/Result.h"
#include "patchbay/protocol/CommandView.h"
#include "patchbay/protocol/FieldList.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace patchbay::protocol {

// The rules of parse() and write() are in SendMessage.h.

/// 17, 513. attributes: "+key=value,-key".
struct CreateTopicRequest {
    std::string_view topic;
    std::string_view defaultTopic;
    std::int32_t readQueueNums = 0;
    std::int32_t writeQueueNums = 0;
    std::int32_t perm = 0;
    std::string_view topicFilterType;
    std::int32_t topicSysFlag = 0;
    bool order = false;
    std::string_view attributes;
    std::optional<bool> force;

    static Result<CreateTopicRequest> parse(const CommandView& command);
    void write(FieldList& fields) const;
};

/// 202, 215, 217, 300, 351. `logical` (lo): 351 shall add the mapping of a static topic.
struct TopicRequest {
    std::string_view topic;
    std::optional<bool> logical;

    static Result<TopicRequest> parse(const CommandView& command);
    void write(FieldList& fields) const;
};

/// 352.
struct GroupRequest {
    std::string_view group;

    static Result<GroupRequest> parse(const CommandView& command);
    void write(FieldList& fields) const;
};

/// 207.
struct DeleteSubscriptionGroupRequest {
    std::string_view groupName;
    bool cleanOffset = false;

    static Result<DeleteSubscriptionGroupRequest> parse(const CommandView& command);
    void write(FieldList& fields) const;
};

/// 208. topicList: names joined with ";"; it wins over topic.
struct GetConsumeStatsRequest {
    std::string_view consumerGroup;
    std::string_view topic;
    std::string_view topicList;

    static Result<GetConsumeStatsRequest> parse(const CommandView& command);
    void write(FieldList& fields) const;
};

/// Of 26. version: a DataVersion as JSON.
struct GetBrokerConfigResponse {
    std::string_view version;

    static Result<GetBrokerConfigResponse> parse(const CommandView& command);
    void write(FieldList& fields) const;
};

}  // namespace patchbay::protocol
