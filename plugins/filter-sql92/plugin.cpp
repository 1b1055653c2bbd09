#include "FilterPlugin.h"

PATCHBAY_PLUGIN(patchbay::plugins::filter::FilterPlugin, "filter-sql92", "1.0.0",
                "Lets consumers filter messages by SQL92 expressions over their properties.", 0, "patchbay.MessageFilter/1", "", "")
