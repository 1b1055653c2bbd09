// The groups of the storage contract. Each file registers its tests; calling its function keeps the linker from dropping it.
#pragma once

#include "patchbay/testkit/MessageStoreContract.h"

namespace patchbay::testkit {

void linkBasicTests();
void linkConcurrencyTests();
void linkDurabilityTests();
void linkLookupTests();
void linkRemovalTests();
void linkSpeedTests();

}  // namespace patchbay::testkit
