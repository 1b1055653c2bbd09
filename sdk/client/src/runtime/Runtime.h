// Runtime: the threads that all clients of a process share.
#pragma once

#include "patchbay/net/EventLoop.h"
#include "runtime/Executor.h"

#include <functional>
#include <future>
#include <thread>
#include <type_traits>

namespace patchbay::client {

/// One loop thread ("pb-client"), which owns all connections and all state of clients, and one thread each for user callbacks
/// ("pb-callback") and for what may block, name look-ups ("pb-resolve"); these start when first needed. The process has one Runtime,
/// made by the first client and kept until the process ends, so that a client may be destroyed on any thread, also on one of these.
/// Nothing of a user runs on the loop but queue selectors, allocation strategies and the log sink, which have to be quick. Tests make their own and turn the loop themselves.
class Runtime {
public:
    static Runtime& process();

    /// `ownThread`: runs the loop; otherwise the caller turns it.
    Runtime(const Clock& clock, bool ownThread);
    ~Runtime();

    [[nodiscard]] net::EventLoop& loop() noexcept { return loop_; }
    [[nodiscard]] Executor& callbacks() noexcept { return callbacks_; }
    [[nodiscard]] Executor& resolver() noexcept { return resolver_; }
    [[nodiscard]] const Clock& clock() const noexcept { return clock_; }

    /// Runs `task` on the loop and waits for its answer; at once when this is the loop's thread.
    template <typename F>
    auto call(F&& task) -> std::invoke_result_t<F&> {
        using Answer = std::invoke_result_t<F&>;
        if (loop_.inLoop()) return task();
        std::promise<Answer> promise;
        auto future = promise.get_future();
        loop_.post([&promise, &task] {
            if constexpr (std::is_void_v<Answer>) {
                task();
                promise.set_value();
            } else {
                promise.set_value(task());
            }
        });
        return future.get();
    }

private:
    const Clock& clock_;
    net::EventLoop loop_;
    Executor callbacks_;
    Executor resolver_;
    std::thread thread_;
};

}  // namespace patchbay::client
