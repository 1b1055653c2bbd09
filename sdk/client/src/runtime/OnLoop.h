// Objects that live on the loop, whoever lets go of them last.
#pragma once

#include "runtime/Runtime.h"

#include <memory>
#include <utility>

namespace patchbay::client {

/// A shared T whose destructor runs on the runtime's loop: its timers and tables belong there.
template <typename T, typename... Arguments>
[[nodiscard]] std::shared_ptr<T> makeOnLoop(Runtime& runtime, Arguments&&... arguments) {
    return std::shared_ptr<T>(new T(std::forward<Arguments>(arguments)...), [&loop = runtime.loop()](T* object) {
        if (loop.inLoop()) delete object;
        else loop.post([object] { delete object; });
    });
}

}  // namespace patchbay::client
