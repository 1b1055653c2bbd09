#include "StatisticsPlugin.h"

PATCHBAY_PLUGIN(patchbay::plugins::statistics::StatisticsPlugin, "statistics", "1.0.0",
                "Measures what passes through topics and groups.", 0, "patchbay.TrafficStats/1",
                "patchbay.MessageStore/1 patchbay.TopicConfigs/1 patchbay.SubscriptionGroups/1 patchbay.ConsumerOffsets/1 "
                "patchbay.ClientRegistry/1", "")
