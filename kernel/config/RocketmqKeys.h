// RocketmqKeys: every key of RocketMQ's own files, so that an operator's file is taken as it is.
#pragma once

#include "patchbay/plugin/Config.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace patchbay::kernel {

/// What happens to a key of this list: it is used when the kernel or a running plugin declares it (by name or alias).
/// Otherwise the kind decides.
struct RocketmqKey {
    enum class Kind : std::uint8_t {
        Plain,    ///< accepted without effect; one line at start lists them
        Path,     ///< accepted without effect, with a warning: files go elsewhere than the line says; never set remotely
        Promise,  ///< `true` is refused: the line asks for safety that would silently not be there
    };
    std::string_view name;
    plugin::ConfigType type;   ///< of the value; checked as that of a key which is used, where Java keeps its default without a word
    Kind kind = Kind::Plain;
};

[[nodiscard]] std::span<const RocketmqKey> rocketmqKeys() noexcept;
[[nodiscard]] const RocketmqKey* findRocketmqKey(std::string_view name) noexcept;

}  // namespace patchbay::kernel
