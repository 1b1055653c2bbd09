// The library's three exported names.
#include "NamesrvPlugin.h"

PATCHBAY_PLUGIN(patchbay::plugins::namesrv::NamesrvPlugin, "namesrv", "1.0.0",
                "A name server: brokers register here, clients ask where topics are.", 0, "", "", "")
