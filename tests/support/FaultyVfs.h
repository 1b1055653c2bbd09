// FaultyVfs: lets FaultyFiles decide over the files of SQLite databases in a test program.
#pragma once

#include "patchbay/testkit/FaultyFiles.h"

namespace patchbay::test {

/// Registers a VFS in front of SQLite's own, once, as the default of this program. Files that are opened from now on obey the
/// faults of `files`, which must outlive them; of none when it is null.
void useFaultyVfs(testkit::FaultyFiles* files);

}  // namespace patchbay::test
