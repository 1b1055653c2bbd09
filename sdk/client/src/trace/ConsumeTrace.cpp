#include "trace/ConsumeTrace.h"

#include "patchbay/protocol/message/PropertyNames.h"

#include <algorithm>
#include <utility>

namespace patchbay::client {

namespace {

// As in Java's ConsumeReturnType; a listener here always answers something, so 3 (null) is not there.
enum class Outcome : std::uint8_t { Success = 0, TimeOut = 1, Exception = 2, Failed = 4 };

Outcome outcomeOf(bool success, bool thrown, bool late) noexcept {
    if (thrown) return Outcome::Exception;
    if (late) return Outcome::TimeOut;
    return success ? Outcome::Success : Outcome::Failed;
}

}  // namespace

std::shared_ptr<const ConsumeTrace> ConsumeTrace::make(const ClientInstance::Pointer& instance, const ConsumerOptions& options) {
    return options.trace ? std::make_shared<const ConsumeTrace>(instance, options) : nullptr;
}

ConsumeTrace::ConsumeTrace(const ClientInstance::Pointer& instance, const ConsumerOptions& options)
    : runtime_(instance->runtime()), ids_(instance->ids()), group_(options.group), timeout_(options.consumeTimeout),
      tracer_(Tracer::make(instance, options.client, options.group, "CONSUME", options.traceTopic)) {}

void ConsumeTrace::add(std::vector<TraceRecord> records) const {
    runtime_.loop().post([tracer = tracer_, records = std::move(records)] { tracer->add(records); });
}

ConsumeTrace::Call::Call(const ConsumeTrace* trace, std::span<const ReceivedMessage> batch) : trace_(trace), count_(batch.size()) {
    if (trace_ == nullptr) return;
    for (const auto& message : batch) {
        const bool wanted = !message.property(protocol::kPropertyMsgRegion).empty() && message.property(protocol::kPropertyTraceSwitch) != "false";
        if (wanted && !trace_->tracer_->isTrace(message.topic())) traced_.push_back(message);
    }
    if (traced_.empty()) return;
    requestId_ = trace_->ids_.next();
    begun_ = trace_->runtime_.clock().now();
    const auto now = std::to_string(trace_->runtime_.clock().wallMs());
    std::vector<TraceRecord> records;
    for (const auto& message : traced_) {
        records.push_back({traceText({"SubBefore", now, message.property(protocol::kPropertyMsgRegion), trace_->group_, requestId_, message.id(),
                                      std::to_string(message.reconsumeTimes()), orNull(message.keys())}),
                           traceKeys(message.id(), message.keys())});
    }
    trace_->add(std::move(records));
}

void ConsumeTrace::Call::ended(bool success, bool thrown) {
    if (traced_.empty()) return;
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(trace_->runtime_.clock().now() - begun_);
    const auto each = std::to_string(took.count() / static_cast<std::int64_t>(count_));
    const auto code = std::to_string(static_cast<int>(outcomeOf(success, thrown, took >= trace_->timeout_)));
    const auto now = std::to_string(trace_->runtime_.clock().wallMs());
    std::vector<TraceRecord> records;
    for (const auto& message : traced_) {
        records.push_back({traceText({"SubAfter", requestId_, message.id(), each, success ? "true" : "false", orNull(message.keys()), code, now, trace_->group_}),
                           traceKeys(message.id(), message.keys())});
    }
    trace_->add(std::move(records));
}

}  // namespace patchbay::client
