// The vtables of the services that the kernel itself provides.
#include "patchbay/service/ConfigReport.h"
#include "patchbay/service/Observation.h"
#include "patchbay/service/PluginControl.h"

namespace patchbay::service {

ConfigReport::~ConfigReport() = default;
Observation::~Observation() = default;
PluginControl::~PluginControl() = default;

}  // namespace patchbay::service
