// The one home of the interfaces' vtables: out-of-line destructors and the few default bodies.
#include "patchbay/plugin/Plugin.h"
#include "patchbay/service/ClientRegistry.h"
#include "patchbay/service/ConsumerOffsets.h"
#include "patchbay/service/DelaySchedule.h"
#include "patchbay/service/MessageFilter.h"
#include "patchbay/service/MessageStore.h"
#include "patchbay/service/QueueLocks.h"
#include "patchbay/service/Registration.h"
#include "patchbay/service/RetryPolicy.h"
#include "patchbay/service/SubscriptionGroups.h"
#include "patchbay/service/TimerSchedule.h"
#include "patchbay/service/TopicConfigs.h"
#include "patchbay/service/TrafficStats.h"
#include "patchbay/service/TransactionStore.h"

namespace patchbay::plugin {

ConfigView::~ConfigView() = default;
RuntimeConfig::~RuntimeConfig() = default;
Logger::~Logger() = default;
PeerListener::~PeerListener() = default;
Processor::~Processor() = default;
Processors::~Processors() = default;
Interceptor::~Interceptor() = default;
Interceptors::~Interceptors() = default;
Services::~Services() = default;
Timers::~Timers() = default;
RemotingInvoker::~RemotingInvoker() = default;
Metrics::~Metrics() = default;
PluginContext::~PluginContext() = default;
Plugin::~Plugin() = default;

void Processor::endOfBatch(Lane) noexcept {}
bool Processor::admits(const protocol::CommandView&) noexcept { return true; }

std::span<const ConfigKey> Plugin::configKeys() const noexcept { return {}; }
Status Plugin::configure(const ConfigView&) { return Status::ok(); }
Status Plugin::start() { return Status::ok(); }
Status Plugin::reconfigure(const ConfigView&, std::span<const std::string_view>) {
    return {StatusCode::Unsupported, "needs a restart"};
}
void Plugin::drain() noexcept {}
void Plugin::stop() noexcept {}

std::string ServiceId::toString() const { return std::string(name) + "/" + std::to_string(version); }

}  // namespace patchbay::plugin

namespace patchbay::service {

DelaySchedule::~DelaySchedule() = default;
std::vector<DelayLevelProgress> DelaySchedule::progress() const { return {}; }
AppendBatch::~AppendBatch() = default;
AppendListener::~AppendListener() = default;
ReadFilter::~ReadFilter() = default;
MessageFilter::~MessageFilter() = default;
MessageStore::~MessageStore() = default;
PropertyFilter::~PropertyFilter() = default;
TopicListener::~TopicListener() = default;
TopicConfigs::~TopicConfigs() = default;
SubscriptionGroups::~SubscriptionGroups() = default;
ConsumerOffsets::~ConsumerOffsets() = default;
ClientRegistry::~ClientRegistry() = default;
QueueLocks::~QueueLocks() = default;
Registration::~Registration() = default;
RetryPolicy::~RetryPolicy() = default;
TimerSchedule::~TimerSchedule() = default;
TrafficStats::~TrafficStats() = default;
std::vector<TrafficStats::TopicTotals> TrafficStats::topics() const { return {}; }
void TrafficStats::count(std::string_view, std::string_view, std::int64_t) {}
std::vector<TrafficStats::Counted> TrafficStats::counted() const { return {}; }
TransactionStore::~TransactionStore() = default;

bool ReadFilter::matchesRecord(std::string_view) const noexcept { return true; }
bool ReadFilter::needsRecord() const noexcept { return false; }

}  // namespace patchbay::service
