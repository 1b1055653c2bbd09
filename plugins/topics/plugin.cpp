#include "TopicsPlugin.h"

PATCHBAY_PLUGIN(patchbay::plugins::topics::TopicsPlugin, "topics", "1.0.0", "Keeps topics and consumer groups.", 0,
                "patchbay.TopicConfigs/1 patchbay.SubscriptionGroups/1", "", "")
