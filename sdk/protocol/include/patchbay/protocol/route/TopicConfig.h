// TopicConfig: a topic on a broker, as it is kept in topics.json and told to name servers.
#pragma once

#include "patchbay/protocol/route/DataVersion.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::protocol {

enum class TopicFilterType : std::uint8_t { SingleTag, MultiTag };
[[nodiscard]] std::string_view toString(TopicFilterType type) noexcept;
/// "SINGLE_TAG" or "MULTI_TAG" in any case, or their ordinals.
[[nodiscard]] std::optional<TopicFilterType> parseTopicFilterType(std::string_view text) noexcept;

using Attributes = std::map<std::string, std::string, std::less<>>;

/// A value type.
struct TopicConfig {
    std::string topicName;
    std::int32_t readQueueNums = 16;
    std::int32_t writeQueueNums = 16;
    std::uint32_t perm = 6;  ///< kPermRead, kPermWrite, kPermInherit
    TopicFilterType topicFilterType = TopicFilterType::SingleTag;
    std::int32_t topicSysFlag = 0;
    bool order = false;
    Attributes attributes;  ///< names without a sign

    friend bool operator==(const TopicConfig&, const TopicConfig&) = default;

    void write(json::Writer& out) const;
    static Result<TopicConfig> read(json::Value value);
    [[nodiscard]] std::string toJson() const { return json::encode(*this); }
    static Result<TopicConfig> fromJson(std::string_view text) { return json::decode<TopicConfig>(text); }

    /// As Java prints it, which is a part of texts that RocketMQ answers.
    [[nodiscard]] std::string toString() const;

    /// The line of a compressed registration: "name read write perm filter attributes", one blank between them.
    [[nodiscard]] std::string toLine() const;
    /// Also accepts a line without attributes, as older brokers write it.
    static Result<TopicConfig> fromLine(std::string_view line);
};

using TopicConfigTable = std::map<std::string, TopicConfig, std::less<>>;

/// A topic that spans brokers. Here only to be passed on between peers: bodies carry it, this broker has none.
struct TopicQueueMapping {
    struct Item {
        std::int32_t gen = 0;
        std::int32_t queueId = 0;
        std::string bname;
        std::int64_t logicOffset = 0;
        std::int64_t startOffset = 0;
        std::int64_t endOffset = -1;
        std::int64_t timeOfStart = -1;
        std::int64_t timeOfEnd = -1;
        friend bool operator==(const Item&, const Item&) = default;
        void write(json::Writer& out) const;
        static Result<Item> read(json::Value value);
    };

    std::string topic;
    std::string scope = "__global__";
    std::int32_t totalQueues = 0;
    std::string bname;
    std::int64_t epoch = 0;
    bool dirty = false;
    std::map<std::int32_t, std::int32_t> currIdMap;
    /// Only in the detailed form (bodies 21 and 513, topicQueueMapping.json).
    std::optional<std::map<std::int32_t, std::vector<Item>>> hostedQueues;

    friend bool operator==(const TopicQueueMapping&, const TopicQueueMapping&) = default;

    void write(json::Writer& out) const;
    static Result<TopicQueueMapping> read(json::Value value);
    [[nodiscard]] std::string toJson() const { return json::encode(*this); }
    static Result<TopicQueueMapping> fromJson(std::string_view text) { return json::decode<TopicQueueMapping>(text); }
};

using TopicQueueMappingTable = std::map<std::string, TopicQueueMapping, std::less<>>;

/// topics.json, and the body of a registration from before version 37.
struct TopicConfigs {
    DataVersion dataVersion;
    TopicConfigTable topicConfigTable;

    void write(json::Writer& out) const;
    static Result<TopicConfigs> read(json::Value value);
    [[nodiscard]] std::string toJson(json::Dialect dialect = json::Dialect::Fastjson) const {
        return json::encode(*this, dialect);
    }
    static Result<TopicConfigs> fromJson(std::string_view text) { return json::decode<TopicConfigs>(text); }
};

/// Body of 21, and a part of 103.
struct TopicConfigSerializeWrapper {
    DataVersion dataVersion;
    TopicConfigTable topicConfigTable;
    DataVersion mappingDataVersion;
    TopicQueueMappingTable topicQueueMappingInfoMap;
    TopicQueueMappingTable topicQueueMappingDetailMap;

    void write(json::Writer& out) const;
    static Result<TopicConfigSerializeWrapper> read(json::Value value);
    [[nodiscard]] std::string toJson() const { return json::encode(*this); }
    static Result<TopicConfigSerializeWrapper> fromJson(std::string_view text) {
        return json::decode<TopicConfigSerializeWrapper>(text);
    }
};

/// Body of 18: topics to create or change; their attribute names carry a sign.
struct TopicConfigList {
    std::vector<TopicConfig> topicConfigList;

    void write(json::Writer& out) const;
    static Result<TopicConfigList> read(json::Value value);
    [[nodiscard]] std::string toJson() const { return json::encode(*this); }
    static Result<TopicConfigList> fromJson(std::string_view text) { return json::decode<TopicConfigList>(text); }
};

}  // namespace patchbay::protocol
