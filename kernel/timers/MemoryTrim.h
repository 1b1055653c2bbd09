// MemoryTrim: gives back what a peak has left free inside the allocator.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <utility>

namespace patchbay::kernel {

/// glibc keeps what is freed below a block that is in use, so that one peak of load would be held for ever. Looked at from time to
/// time: only what was free and resident at two looks is given back, because a busy broker takes it again. One thread at a time.
class MemoryTrim {
public:
    static constexpr std::chrono::seconds kInterval{20};
    static constexpr std::size_t kWorth = 64U << 20;  ///< less is not worth the walk through the arenas

    /// The process's own.
    MemoryTrim();
    /// `idle`: bytes that are free and resident; `trim` gives them back.
    MemoryTrim(std::function<std::size_t()> idle, std::function<void()> trim) : idle_(std::move(idle)), trim_(std::move(trim)) {}

    /// True when it gave something back.
    bool look();

private:
    const std::function<std::size_t()> idle_;
    const std::function<void()> trim_;
    bool seen_ = false;
};

}  // namespace patchbay::kernel
