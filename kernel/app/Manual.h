// Manual: the page of the executable for man(1).
#pragma once

#include <span>
#include <string>

namespace patchbay::kernel {

/// An option of the command line as its help shows it.
struct ManualOption {
    std::string spelled;   ///< "-c, --config TEXT"
    std::string doc;
};

/// docs/patchbay.1, in troff.
[[nodiscard]] std::string manualPage(std::span<const ManualOption> options);

}  // namespace patchbay::kernel
