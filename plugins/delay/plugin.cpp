#include "DelayPlugin.h"

PATCHBAY_PLUGIN(patchbay::plugins::delay::DelayPlugin, "delay", "1.0.0", "Delivers messages after a delay.", 0,
                "patchbay.DelaySchedule/1", "patchbay.MessageStore/1", "patchbay.TimerSchedule/2")
