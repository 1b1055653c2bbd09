#include "Aside.h"

namespace patchbay::mmapstore {

std::string freeName(const FileSystem& files, const std::string& path) {
    std::string name = path;
    for (int number = 1; files.exists(name); ++number) name = path + "." + std::to_string(number);
    return name;
}

Result<std::string> setAside(FileSystem& files, const Layout& layout, const std::string& path) {
    const std::string place = layout.aside() + path.substr(layout.root.size());
    if (Status made = files.makeDirectories(directoryOf(place)); !made) return made;
    std::string to = freeName(files, place);
    if (Status moved = files.rename(path, to); !moved) return moved;
    return to;
}

}  // namespace patchbay::mmapstore
