#include "RetryPlugin.h"

PATCHBAY_PLUGIN(patchbay::plugins::retry::RetryPlugin, "retry", "1.0.0",
                "Takes messages back from consumers, for another try or as dead letters.",
                patchbay::plugin::kConcurrentGenerations, "patchbay.RetryPolicy/1",
                "patchbay.MessageStore/1 patchbay.TopicConfigs/1 patchbay.SubscriptionGroups/1 patchbay.DelaySchedule/1",
                "patchbay.QueueLocks/1 patchbay.TrafficStats/1")
