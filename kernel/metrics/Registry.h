// MetricsRegistry: the named counters of the process.
#pragma once

#include "patchbay/plugin/Runtime.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace patchbay::kernel {

/// One object for the process; counters live as long as it. Any thread; counter() locks and is for set-up, not for hot paths.
class MetricsRegistry final : public plugin::Metrics {
public:
    plugin::Counter& counter(std::string_view name, std::string_view help) override;
    /// In the order of names; the lock is not held while `each` runs.
    void visit(const std::function<void(std::string_view, std::string_view, std::uint64_t)>& each) const override;

private:
    struct Entry {
        std::string help;   // a copy: the text may belong to a plugin that is unloaded later
        plugin::Counter counter;
    };
    mutable std::mutex mutex_;
    std::map<std::string, std::unique_ptr<Entry>, std::less<>> entries_;   // guarded by mutex_; entries never go
};

}  // namespace patchbay::kernel
