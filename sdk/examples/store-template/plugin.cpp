#include "ToyPlugin.h"

PATCHBAY_PLUGIN(toy::ToyPlugin, "storage-toy", "1.0.0", "Keeps messages in one file, and all of them in memory.", 0, "patchbay.MessageStore/1", "", "")
