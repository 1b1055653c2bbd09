// FaultyVfs: lets FaultyFiles decide over the files of SQLite databases in a test program, and a PowerDisk watch them.
#pragma once

#include "support/PowerDisk.h"

#include "patchbay/testkit/FaultyFiles.h"

namespace patchbay::test {

/// Registers a VFS in front of SQLite's own, once, as the default of this program. Files that are opened from now on obey the
/// faults of `files` and tell `disk` of their changes; both must outlive them, and may be null.
void useFaultyVfs(testkit::FaultyFiles* files, PowerDisk* disk = nullptr);

}  // namespace patchbay::test
