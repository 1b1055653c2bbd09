// SendTrace: traces of what was sent.
#pragma once

#include "producer/ProducerCore.h"
#include "trace/Tracer.h"

#include <memory>
#include <string>
#include <string_view>

namespace patchbay::client {

/// One event for each message or batch that a broker has taken; of a batch that was gathered, each message has its record.
class SendTrace final : public SendObserver {
public:
    SendTrace(const ClientInstance::Pointer& instance, const ProducerOptions& options);

    void sent(const Outgoing& message, const SendReceipt& receipt, std::string_view region, std::string_view address, std::int64_t startedMs,
              std::chrono::milliseconds took) override;
    void flush() override { tracer_->flush(); }

private:
    const std::string nameSpace_;
    const std::string group_;
    const std::shared_ptr<Tracer> tracer_;
};

}  // namespace patchbay::client
