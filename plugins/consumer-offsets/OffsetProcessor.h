// OffsetProcessor: QUERY_CONSUMER_OFFSET (14) and UPDATE_CONSUMER_OFFSET (15).
#pragma once

#include "OffsetService.h"

#include "patchbay/plugin/Processor.h"
#include "patchbay/plugin/Services.h"
#include "patchbay/service/MessageStore.h"
#include "patchbay/service/SubscriptionGroups.h"
#include "patchbay/service/TopicConfigs.h"

namespace patchbay::plugins::consumer_offsets {

struct OffsetServices {
    plugin::ServiceRef<service::TopicConfigs> topics;
    plugin::ServiceRef<service::SubscriptionGroups> groups;
    plugin::ServiceRef<service::MessageStore> store;  ///< may be empty; kept for the service
};

/// Loop-safe: everything is answered from memory. Owned by the plugin; `offsets` outlives it.
class OffsetProcessor final : public plugin::Processor {
public:
    OffsetProcessor(OffsetService& offsets, OffsetServices services) : offsets_(offsets), services_(std::move(services)) {}
    void process(plugin::Request request) override;

    [[nodiscard]] OffsetServices& services() noexcept { return services_; }

private:
    void query(plugin::Request request);
    void update(plugin::Request request);

    OffsetService& offsets_;
    OffsetServices services_;
};

}  // namespace patchbay::plugins::consumer_offsets
