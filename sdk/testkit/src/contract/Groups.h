// The groups of the storage contract. Each file registers its tests; calling its function keeps the linker from dropping it.
#pragma once

#include "patchbay/testkit/MessageStoreContract.h"

#include <string>
#include <string_view>
#include <vector>

namespace patchbay::testkit {

/// "<prefix><from>" … up to, but not with, `to`.
std::vector<std::string> numbered(int from, int to, std::string_view prefix = "body-");

void linkBasicTests();
void linkConcurrencyTests();
void linkDamageTests();
void linkDurabilityTests();
void linkFaultTests();
void linkListenerTests();
void linkLookupTests();
void linkRemovalTests();
void linkSpeedTests();

}  // namespace patchbay::testkit
