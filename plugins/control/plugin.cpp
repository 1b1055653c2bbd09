#include "ControlPlugin.h"

PATCHBAY_PLUGIN(patchbay::plugins::control::ControlPlugin, "control", "1.0.0",
                "Lets an operator see and change the running process: plugins, configuration, counts.",
                patchbay::plugin::kConcurrentGenerations, "",
                "patchbay.PluginControl/1 patchbay.ConfigReport/1 patchbay.Observation/1", "")
