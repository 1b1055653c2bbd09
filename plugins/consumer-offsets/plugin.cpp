#include "OffsetsPlugin.h"

PATCHBAY_PLUGIN(patchbay::plugins::consumer_offsets::OffsetsPlugin, "consumer-offsets", "1.0.0",
                "Keeps how far each group has consumed each queue.", 0, "patchbay.ConsumerOffsets/1",
                "patchbay.TopicConfigs/1 patchbay.SubscriptionGroups/1", "patchbay.MessageStore/1")
