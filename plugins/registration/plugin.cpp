// The library's three exported names.
#include "RegistrationPlugin.h"

PATCHBAY_PLUGIN(patchbay::plugins::registration::RegistrationPlugin, "registration", "1.0.0",
                "Makes this broker and its topics known to the name servers.", 0, "patchbay.Registration/1",
                "patchbay.TopicConfigs/1", "")
