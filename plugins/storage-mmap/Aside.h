// Aside: where a start puts what it does not understand.
#pragma once

#include "Layout.h"

#include "patchbay/base/FileSystem.h"

#include <string>

namespace patchbay::mmapstore {

/// The path, or the next one with a number behind it that nothing has.
[[nodiscard]] std::string freeName(const FileSystem& files, const std::string& path);

/// Moves a file or directory from below the store's root to the same place below `aside/`, under a name that nothing has there. Nothing
/// is ever removed from there but by people. Where it is now.
[[nodiscard]] Result<std::string> setAside(FileSystem& files, const Layout& layout, const std::string& path);

}  // namespace patchbay::mmapstore
