// KeyCheck: finds keys that nobody knows, and says which one was probably meant.
#pragma once

#include "app/Errors.h"
#include "config/ConfigSources.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::kernel {

/// The keys of one owner.
struct KeyOwner {
    std::string name;                    ///< "kernel" or the plugin's name
    const ConfigValues* values;
    const PluginFile* file = nullptr;    ///< null for the kernel
};

/// Keys of RocketMQ that nobody here uses.
struct UnusedKeys {
    std::vector<std::string> plain;      ///< names
    std::vector<Assignment> paths;       ///< those that the operator has to be told of
};

/// Reports every key of the main file, the command line and the plugin files that no owner declares and that is not one of
/// RocketMQ's, with the nearest known key; and wrong executor keys. Returns RocketMQ's keys that stay without effect.
UnusedKeys checkKeys(const ConfigSources& sources, std::span<const KeyOwner> owners, Problems& problems);

/// A key that stands a second time is a problem already; reports what is wrong with its value besides.
void checkRepeatedKeys(const ConfigSources& sources, std::span<const KeyOwner> owners, Problems& problems);

}  // namespace patchbay::kernel
