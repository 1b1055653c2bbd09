#include "TimerPlugin.h"

PATCHBAY_PLUGIN(patchbay::plugins::timer::TimerPlugin, "timer", "1.0.0", "Delivers messages at a time of their producer's choice.", 0,
                "patchbay.TimerSchedule/2", "patchbay.MessageStore/1 patchbay.TopicConfigs/1", "")
