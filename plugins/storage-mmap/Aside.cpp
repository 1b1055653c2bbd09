#include "Aside.h"

namespace patchbay::mmapstore {

Result<std::string> setAside(FileSystem& files, const Layout& layout, const std::string& path) {
    const std::string place = layout.aside() + path.substr(layout.root.size());
    if (Status made = files.makeDirectories(directoryOf(place)); !made) return made;
    std::string to = place;
    for (int number = 1; files.exists(to); ++number) to = place + "." + std::to_string(number);
    if (Status moved = files.rename(path, to); !moved) return moved;
    return to;
}

}  // namespace patchbay::mmapstore
