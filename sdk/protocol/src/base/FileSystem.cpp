// What every FileSystem can do with the primitives of its class.
#include "patchbay/base/FileSystem.h"

namespace patchbay {

std::string directoryOf(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) return ".";
    return slash == 0 ? "/" : path.substr(0, slash);
}

namespace {

Status writeNew(FileSystem& files, const std::string& path, std::string_view content) {
    Result<std::unique_ptr<File>> file = files.open(path, OpenMode::Create);
    if (!file) return file.error();
    // A crash may have left a longer one behind.
    if (Status cut = (*file)->truncate(0); !cut) return cut;
    if (Status written = (*file)->writeAt(content, 0); !written) return written;
    return (*file)->sync();
}

}  // namespace

Result<std::string> FileSystem::readAll(const std::string& path, std::uint64_t bytesMax) {
    Result<std::unique_ptr<File>> file = open(path, OpenMode::Read);
    if (!file) return file.error();
    Result<std::uint64_t> size = (*file)->size();
    if (!size) return size.error();
    if (*size > bytesMax) {
        return Status(StatusCode::OutOfRange, path + " has " + std::to_string(*size) + " bytes; at most " +
                                                  std::to_string(bytesMax) + " are read");
    }
    std::string text(static_cast<std::size_t>(*size), '\0');
    Result<std::size_t> got = (*file)->readAt(text, 0);
    if (!got) return got.error();
    text.resize(*got);
    return text;
}

Status FileSystem::replaceAtomically(const std::string& path, std::string_view content, bool keepBackup) {
    const std::string fresh = path + ".tmp";
    if (Status written = writeNew(*this, fresh, content); !written) return written;
    if (keepBackup && exists(path)) {
        // A copy, not a rename of the old file: at no moment may the path name nothing.
        Result<std::string> old = readAll(path, UINT64_MAX);
        if (!old) return old.error();
        if (Status kept = writeNew(*this, path + ".bak", *old); !kept) return kept;
    }
    if (Status renamed = rename(fresh, path); !renamed) return renamed;
    return syncDirectory(directoryOf(path));
}

}  // namespace patchbay
