#include "patchbay/base/StoreLock.h"

namespace patchbay {

Result<std::unique_ptr<FileLock>> lockStore(FileSystem& files, const std::string& directory, std::string_view key) {
    if (Status made = files.makeDirectories(directory); !made) return made;
    Result<std::unique_ptr<FileLock>> locked = files.lock(directory + "/lock");
    if (locked || locked.error().code() != StatusCode::Busy) return locked;
    return Status(StatusCode::Busy, "the directory " + directory + " is in use: " + locked.error().message() +
                                        "; stop that process, or set another " + std::string(key));
}

}  // namespace patchbay
