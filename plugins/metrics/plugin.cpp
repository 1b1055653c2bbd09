#include "MetricsPlugin.h"

PATCHBAY_PLUGIN(patchbay::plugins::metrics::MetricsPlugin, "metrics", "1.0.0", "Tells Prometheus and health checks about the process, over HTTP.", 0, "",
                "patchbay.Observation/1", "patchbay.MessageStore/1 patchbay.TopicConfigs/1 patchbay.SubscriptionGroups/1 patchbay.ConsumerOffsets/1 "
                "patchbay.ClientRegistry/1 patchbay.TrafficStats/1 patchbay.TimerSchedule/2")
