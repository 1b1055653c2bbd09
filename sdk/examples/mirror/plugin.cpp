#include "Mirror.h"

// Not kConcurrentGenerations: two generations would forward everything twice.
PATCHBAY_PLUGIN(mirror::Mirror, "mirror", "1.0.0", "Forwards the messages of topics to another cluster.", 0, "", "patchbay.MessageStore/1", "")
