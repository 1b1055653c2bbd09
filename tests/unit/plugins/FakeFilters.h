// A message filter whose expressions are "name=value", for tests of those that ask one.
#pragma once

#include "patchbay/protocol/message/Properties.h"
#include "patchbay/service/MessageFilter.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace patchbay::plugins {

/// Anything without "=" does not compile; other types than SQL92 are not served. One thread.
class FakeFilters final : public service::MessageFilter {
public:
    service::FilterVerdict compile(std::string_view type, std::string_view expression) override {
        if (type != protocol::kExpressionTypeSql92) return {protocol::ResponseCode::SystemError, "not served", {}};
        const std::size_t sign = expression.find('=');
        if (sign == std::string_view::npos) return {protocol::ResponseCode::SubscriptionParseFailed, "no sign in it", {}};
        return {protocol::ResponseCode::Success, {},
                Ref<Equals>::adopt(new Equals(std::string(expression.substr(0, sign)), std::string(expression.substr(sign + 1))))};
    }
    void subscribed(std::string_view group, std::span<const protocol::SubscriptionData> subscriptions) override {
        for (const auto& data : subscriptions) heard.push_back(std::string(group) + " " + data.topic + " " + data.subString);
    }

    std::vector<std::string> heard;   ///< "group topic expression" of each subscription of each heartbeat

private:
    class Equals final : public service::PropertyFilter {
    public:
        Equals(std::string name, std::string value) : name_(std::move(name)), value_(std::move(value)) {}
        [[nodiscard]] bool matches(std::string_view properties) const noexcept override {
            return protocol::findProperty(properties, name_) == value_;
        }

    private:
        const std::string name_;
        const std::string value_;
    };
};

}  // namespace patchbay::plugins
