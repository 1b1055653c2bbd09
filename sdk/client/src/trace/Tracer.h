// Tracer: sends records of what became of messages, as messages of a trace topic.
#pragma once

#include "producer/ProducerCore.h"
#include "runtime/LoopTimer.h"

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::client {

/// One record, and by which keys the message that brings it can be found.
struct TraceRecord {
    std::string text;
    std::vector<std::string> keys;
};

/// Collects records and sends those of ten events at a time, or what there is every five seconds; what cannot be sent is dropped, with a line
/// in the log. Loop thread after make().
class Tracer final : public std::enable_shared_from_this<Tracer> {
public:
    /// `kind`: PRODUCE or CONSUME. The trace topic is in no namespace.
    [[nodiscard]] static std::shared_ptr<Tracer> make(const ClientInstance::Pointer& instance, const ClientOptions& options, const std::string& group,
                                                      std::string_view kind, std::string topic);
    Tracer(std::shared_ptr<ProducerCore> core, std::string topic);
    ~Tracer();
    Tracer(const Tracer&) = delete;
    Tracer& operator=(const Tracer&) = delete;

    /// The records of one event.
    void add(const std::vector<TraceRecord>& records);
    /// What is kept goes out now.
    void flush();
    /// Any thread. Whether messages of the topic are traces themselves.
    [[nodiscard]] bool isTrace(std::string_view topic) const noexcept { return topic.starts_with(topic_); }

private:
    const std::shared_ptr<ProducerCore> core_;
    const std::string topic_;
    std::string text_;
    std::set<std::string> keys_;
    std::size_t keyBytes_ = 0;
    int events_ = 0;
    std::shared_ptr<LoopTimer> timer_;
};

/// Fields separated by byte 1, ended by byte 2.
[[nodiscard]] std::string traceText(std::initializer_list<std::string_view> fields);
/// Java writes "null" where there is nothing.
[[nodiscard]] std::string_view orNull(std::string_view text) noexcept;
/// The id, and each of the keys, which are joined with blanks.
[[nodiscard]] std::vector<std::string> traceKeys(std::string_view id, std::string_view keys);

}  // namespace patchbay::client
