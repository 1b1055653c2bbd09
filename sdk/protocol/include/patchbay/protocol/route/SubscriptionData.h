// SubscriptionData: what a consumer wants of a topic.
#pragma once

#include "patchbay/protocol/json/Body.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::protocol {

inline constexpr std::string_view kExpressionTypeTag = "TAG";
inline constexpr std::string_view kExpressionTypeSql92 = "SQL92";
inline constexpr std::string_view kSubscribeAll = "*";

/// A missing type means tags.
[[nodiscard]] inline bool isTagExpression(std::string_view expressionType) noexcept {
    return expressionType.empty() || expressionType == kExpressionTypeTag;
}

/// A value type.
struct SubscriptionData {
    std::string topic;
    std::string subString;
    std::string expressionType{kExpressionTypeTag};
    std::vector<std::string> tagsSet;
    std::vector<std::int32_t> codeSet;  ///< javaHashCode of each tag
    std::int64_t subVersion = 0;
    bool classFilterMode = false;

    /// From an expression as consumers write it: "*", nothing, or "TagA || TagB"; anything else than tags is kept as
    /// text. InvalidArgument for an expression of tags without a tag ("||").
    static Result<SubscriptionData> build(std::string_view topic, std::string_view expression,
                                          std::string_view expressionType = kExpressionTypeTag);

    /// Whether a message with that tags code may be wanted. Only tags: an SQL expression is another's work.
    [[nodiscard]] bool matchesTagsCode(std::int64_t tagsCode) const noexcept;
    [[nodiscard]] bool subscribesAll() const noexcept { return subString == kSubscribeAll; }

    friend bool operator==(const SubscriptionData&, const SubscriptionData&) = default;

    void write(json::Writer& out) const;
    static Result<SubscriptionData> read(json::Value value);
    [[nodiscard]] std::string toJson() const { return json::encode(*this); }
    static Result<SubscriptionData> fromJson(std::string_view text) { return json::decode<SubscriptionData>(text); }
};

/// Body of 46.
struct CheckClientBody {
    std::string clientId;
    std::string group;
    std::string nameSpace;
    SubscriptionData subscriptionData;

    static Result<CheckClientBody> read(json::Value value);
    static Result<CheckClientBody> fromJson(std::string_view text) { return json::decode<CheckClientBody>(text); }
};

}  // namespace patchbay::protocol
