#include "Template.h"

// Name, version, what it does, flags, and the services that it provides, requires and wants.
PATCHBAY_PLUGIN(plugin_template::Template, "plugin-template", "1.0.0", "A plugin to start from.", patchbay::plugin::kConcurrentGenerations, "", "", "")
