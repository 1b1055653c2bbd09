// LockHolder: who has the lock that could not be had.
#pragma once

#include <string>

namespace patchbay {

/// "process 4711 (java)", "this process", or "another process" where it cannot be found out: those of other users and of other containers
/// are not seen. `fd` is the file whose first byte is locked. Looks through /proc, so for failures only.
[[nodiscard]] std::string lockHolder(int fd);

}  // namespace patchbay
