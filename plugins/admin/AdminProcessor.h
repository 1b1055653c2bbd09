// AdminProcessor: what the processors of this plugin share.
#pragma once

#include "patchbay/plugin/LocalOnly.h"
#include "patchbay/plugin/Plugin.h"
#include "patchbay/service/ClientRegistry.h"
#include "patchbay/service/ConsumerOffsets.h"
#include "patchbay/service/DelaySchedule.h"
#include "patchbay/service/MessageStore.h"
#include "patchbay/service/Observation.h"
#include "patchbay/service/Registration.h"
#include "patchbay/service/SubscriptionGroups.h"
#include "patchbay/service/TimerSchedule.h"
#include "patchbay/service/TopicConfigs.h"
#include "patchbay/service/TrafficStats.h"

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace patchbay::plugins::admin {

/// What the plugin borrows. Valid as long as the processors.
struct AdminServices {
    plugin::ServiceRef<service::MessageStore> store;
    plugin::ServiceRef<service::TopicConfigs> topics;
    plugin::ServiceRef<service::SubscriptionGroups> groups;
    plugin::ServiceRef<service::ConsumerOffsets> offsets;
    plugin::ServiceRef<service::ClientRegistry> clients;
    plugin::ServiceRef<service::Registration> registration;   ///< may be empty
    plugin::ServiceRef<service::TrafficStats> traffic;         ///< may be empty
    plugin::ServiceRef<service::Observation> observation;      ///< may be empty
    plugin::ServiceRef<service::TimerSchedule> timers;         ///< may be empty
    plugin::ServiceRef<service::DelaySchedule> delays;         ///< may be empty
    plugin::LocalOnly localOnly;
};

/// Answers at once, on the "admin" executor. Owned by the plugin.
class AdminProcessor : public plugin::Processor {
public:
    explicit AdminProcessor(const AdminServices& services) : services_(services) {}
    void process(plugin::Request request) final;

protected:
    [[nodiscard]] virtual plugin::Response answer(const plugin::Request& request) = 0;

    const AdminServices& services_;
};

/// Success with a body.
[[nodiscard]] plugin::Response withBody(std::string body);
/// Success of a request that RocketMQ answers with the remark its responses are born with; tools print it.
[[nodiscard]] plugin::Response doneAsBorn();
/// A header field of the request, empty when it is absent.
[[nodiscard]] std::string_view fieldOf(const plugin::Request& request, std::string_view name) noexcept;
/// The refusal of a request that lacks one of these header fields, or nothing.
[[nodiscard]] std::optional<plugin::Response> withoutField(const plugin::Request& request,
                                                           std::initializer_list<std::string_view> names);
/// A refusal as RocketMQ words it.
[[nodiscard]] plugin::Response refusal(protocol::ResponseCode code, std::string remark);

}  // namespace patchbay::plugins::admin
