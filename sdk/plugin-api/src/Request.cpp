#include "patchbay/plugin/Request.h"

#include <atomic>

namespace patchbay::plugin {

namespace {

std::atomic<MisuseHandler> misuseHandler{nullptr};

}  // namespace

void onRequestMisuse(MisuseHandler handler) noexcept { misuseHandler.store(handler, std::memory_order_release); }

void requestMisused() noexcept {
    if (const auto handler = misuseHandler.load(std::memory_order_acquire)) handler();
}

}  // namespace patchbay::plugin
