#include "producer/SendTrace.h"

#include "message/Namespace.h"
#include "patchbay/protocol/message/SysFlag.h"

#include <utility>

namespace patchbay::client {

using namespace std::chrono_literals;

namespace {

constexpr int kRecordsMax = 10;
constexpr std::string_view kNull = "null";

std::string_view orNull(std::string_view text) { return text.empty() ? kNull : text; }

}  // namespace

std::string traceRecord(std::initializer_list<std::string_view> fields) {
    std::string text;
    for (const auto field : fields) {
        if (!text.empty()) text += '\x01';
        text += field;
    }
    return text += '\x02';
}

Result<std::shared_ptr<SendTrace>> SendTrace::make(const ClientInstance::Pointer& instance, const ProducerOptions& options) {
    ProducerOptions own;
    own.client = options.client;
    own.group = "_INNER_TRACE_PRODUCER-" + options.group + "-PRODUCE-1";
    own.sendTimeout = 5000ms;
    own.inFlightMax = 64;
    return std::make_shared<SendTrace>(std::make_shared<ProducerCore>(instance, own), withNamespace(options.client.nameSpace, options.group), options.traceTopic);
}

SendTrace::SendTrace(std::shared_ptr<ProducerCore> core, std::string group, std::string topic)
    : core_(std::move(core)), group_(std::move(group)), topic_(std::move(topic)),
      timer_(std::make_shared<LoopTimer>(core_->instance().runtime().loop())) {}

SendTrace::~SendTrace() {
    // The timer ends on its loop, wherever the last producer went.
    core_->instance().runtime().loop().post([timer = std::move(timer_)] { timer->cancel(); });
}

void SendTrace::sent(const Outgoing& message, const SendReceipt& receipt, std::string_view region, std::string_view address,
                     std::int64_t startedMs, std::chrono::milliseconds took) {
    if (message.topic.starts_with(topic_)) return;
    const std::string_view type = message.delayed ? "3" : (message.sysFlag & protocol::kSysFlagPrepared) != 0 ? "1" : "0";
    const auto& group = group_;
    records_ += traceRecord({"Pub", std::to_string(startedMs), region, group, message.topic, message.id, orNull(message.tags), orNull(message.keys),
                             address, std::to_string(message.plainBytes), std::to_string(took.count()), type, receipt.offsetMessageId,
                             receipt.status == SendStatus::Ok ? "true" : "false"});
    keys_.push_back(message.id);
    if (++count_ >= kRecordsMax) return flush();
    if (!timer_->planned()) timer_->once(5s, [weak = weak_from_this()] {
        if (const auto self = weak.lock()) self->flush();
    });
}

void SendTrace::flush() {
    if (count_ == 0) return;
    count_ = 0;
    Message message{.topic = topic_, .body = std::exchange(records_, {})};
    for (auto& key : std::exchange(keys_, {})) {
        // Ids of a batch are one text with commas.
        message.keys.push_back(std::move(key));
    }
    auto out = core_->outfitter().one(message);
    if (!out) return;
    core_->send(std::move(*out), {}, core_->deadlineOf({}), [core = core_](const Result<SendReceipt>& receipt) {
        if (!receipt) core->instance().log().info("a trace record was not sent: " + receipt.error().message());
    });
}

}  // namespace patchbay::client
