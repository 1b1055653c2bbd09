// MessageFilter: which messages a consumer wants, by an expression over their properties.
#pragma once

#include "patchbay/base/Slice.h"
#include "patchbay/plugin/Services.h"
#include "patchbay/protocol/ResponseCode.h"
#include "patchbay/protocol/route/SubscriptionData.h"

#include <span>
#include <string>
#include <string_view>

namespace patchbay::service {

/// A compiled expression. Immutable and shared: any thread may ask it. Valid while a reference is held, but not longer than the
/// lease of the service that made it.
class PropertyFilter : public RefCounted {
public:
    /// Whether a message with these properties (RocketMQ's text form) is wanted. Allocates nothing. An expression that cannot be
    /// evaluated wants nothing.
    [[nodiscard]] virtual bool matches(std::string_view properties) const noexcept = 0;

protected:
    ~PropertyFilter() override;
};

struct FilterVerdict {
    protocol::ResponseCode code{};   ///< anything but Success: refuse, with `remark`
    std::string remark;
    Ref<PropertyFilter> filter;      ///< with Success
};

/// Thread-safe; may be called on a loop. Without a provider, expressions other than tags are refused.
class MessageFilter {
public:
    static constexpr plugin::ServiceId kId{"patchbay.MessageFilter", 1};
    virtual ~MessageFilter();

    /// The filter of an expression. SystemError for a type that is not served, SubscriptionParseFailed with the place of the fault
    /// for a bad expression. Expressions that are in use are compiled once.
    [[nodiscard]] virtual FilterVerdict compile(std::string_view type, std::string_view expression) = 0;
    /// A heartbeat of the group with all its subscriptions, so that they can be written down. Cheap for groups that subscribe by
    /// tags alone.
    virtual void subscribed(std::string_view group, std::span<const protocol::SubscriptionData> subscriptions) = 0;
};

}  // namespace patchbay::service
