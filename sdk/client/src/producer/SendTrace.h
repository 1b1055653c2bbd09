// SendTrace: records of what was sent, as messages of a trace topic.
#pragma once

#include "producer/ProducerCore.h"
#include "runtime/LoopTimer.h"

#include <memory>
#include <string>
#include <string_view>

namespace patchbay::client {

/// Collects records and sends ten at a time, or what there is every five seconds; what cannot be sent is dropped. Loop thread after make().
class SendTrace final : public SendObserver, public std::enable_shared_from_this<SendTrace> {
public:
    [[nodiscard]] static Result<std::shared_ptr<SendTrace>> make(const ClientInstance::Pointer& instance, const ProducerOptions& options);
    explicit SendTrace(std::shared_ptr<ProducerCore> core, std::string group, std::string topic);
    ~SendTrace() override;

    void sent(const Outgoing& message, const SendReceipt& receipt, std::string_view region, std::string_view address, std::int64_t startedMs,
              std::chrono::milliseconds took) override;
    void flush() override;

private:

    const std::shared_ptr<ProducerCore> core_;
    const std::string group_;
    const std::string topic_;
    std::string records_;
    std::vector<std::string> keys_;
    int count_ = 0;
    std::shared_ptr<LoopTimer> timer_;
};

/// One record: fields separated by byte 1, ended by byte 2. Null texts are the word "null".
[[nodiscard]] std::string traceRecord(std::initializer_list<std::string_view> fields);

}  // namespace patchbay::client
