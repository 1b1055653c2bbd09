// ConsumeTrace: traces of what was consumed.
#pragma once

#include "patchbay/client/ConsumerOptions.h"
#include "trace/Tracer.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::client {

/// Two events for each call of a listener, before and after; the poll of a pull consumer is one. Messages whose broker does not want traces, and
/// traces themselves, are left out. Any thread, but flush().
class ConsumeTrace {
public:
    /// Null when the options do not ask for traces.
    [[nodiscard]] static std::shared_ptr<const ConsumeTrace> make(const ClientInstance::Pointer& instance, const ConsumerOptions& options);
    ConsumeTrace(const ClientInstance::Pointer& instance, const ConsumerOptions& options);

    /// Loop thread: what is kept goes out now.
    void flush() const { tracer_->flush(); }

    /// One call. Without a trace it does nothing.
    class Call {
    public:
        Call(const ConsumeTrace* trace, std::span<const ReceivedMessage> batch);
        void ended(bool success, bool thrown);

    private:
        const ConsumeTrace* const trace_;
        std::string requestId_;  // common to both events
        MonotonicTime begun_{};
        std::size_t count_;
        std::vector<ReceivedMessage> traced_;
    };

private:
    void add(std::vector<TraceRecord> records) const;

    Runtime& runtime_;
    protocol::UniqueIdGenerator& ids_;
    const std::string group_;
    const std::chrono::milliseconds timeout_;
    const std::shared_ptr<Tracer> tracer_;
};

}  // namespace patchbay::client
