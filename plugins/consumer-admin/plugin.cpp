#include "ConsumerAdminPlugin.h"

PATCHBAY_PLUGIN(patchbay::plugins::consumer_admin::ConsumerAdminPlugin, "consumer-admin", "1.0.0",
                "Sets offsets of groups, asks their members, and says why a group stands still.", patchbay::plugin::kConcurrentGenerations, "",
                "patchbay.MessageStore/1 patchbay.TopicConfigs/1 patchbay.SubscriptionGroups/1 patchbay.ConsumerOffsets/1 "
                "patchbay.ClientRegistry/1 patchbay.QueueLocks/1",
                "")
