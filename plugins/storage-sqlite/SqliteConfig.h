// SqliteConfig: the keys of the plugin and what is made of them.
#pragma once

#include "StoreSettings.h"

#include "patchbay/plugin/Config.h"

#include <chrono>
#include <span>
#include <string>

namespace patchbay::plugins::sqlite {

struct SqliteConfig {
    StoreSettings store;                               ///< directory is empty when it shall lie below the store root
    std::chrono::milliseconds flushInterval{500};
    std::chrono::milliseconds cleanInterval{10'000};
    bool keepConfig = true;

    static std::span<const plugin::ConfigKey> keys() noexcept;
    static SqliteConfig from(const plugin::ConfigView& view);
};

}  // namespace patchbay::plugins::sqlite
