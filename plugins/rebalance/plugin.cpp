#include "RebalancePlugin.h"

PATCHBAY_PLUGIN(patchbay::plugins::rebalance::RebalancePlugin, "rebalance", "1.0.0",
                "Shares the queues of a topic out to the members of a group, for clients that ask the broker.", 0, "",
                "patchbay.TopicConfigs/1 patchbay.SubscriptionGroups/1 patchbay.ClientRegistry/1", "")
