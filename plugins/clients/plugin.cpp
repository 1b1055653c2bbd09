#include "ClientsPlugin.h"

PATCHBAY_PLUGIN(patchbay::plugins::clients::ClientsPlugin, "clients", "1.0.0", "Knows which producers and consumers are connected.", 0,
                "patchbay.ClientRegistry/1 patchbay.QueueLocks/1", "patchbay.TopicConfigs/1 patchbay.SubscriptionGroups/1",
                "patchbay.MessageFilter/1")
