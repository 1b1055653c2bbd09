#include "SchemaCheck.h"

PATCHBAY_PLUGIN(schema_check::SchemaCheck, "schema-check", "1.0.0", "Takes messages of some topics only when they are JSON of the right shape.",
                patchbay::plugin::kConcurrentGenerations, "", "", "")
