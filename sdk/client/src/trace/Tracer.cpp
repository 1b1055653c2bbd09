#include "trace/Tracer.h"

#include <algorithm>
#include <utility>

namespace patchbay::client {

using namespace std::chrono_literals;

namespace {

constexpr int kEventsMax = 10;
constexpr std::size_t kTextMax = 128'000;
// Keys are a property, and all properties together have at most 32767 bytes.
constexpr std::size_t kKeyBytesMax = 16'000;

}  // namespace

std::string traceText(std::initializer_list<std::string_view> fields) {
    std::string text;
    for (const auto field : fields) {
        if (!text.empty()) text += '\x01';
        text += field;
    }
    return text += '\x02';
}

std::string_view orNull(std::string_view text) noexcept { return text.empty() ? "null" : text; }

std::vector<std::string> traceKeys(std::string_view id, std::string_view keys) {
    std::vector<std::string> all{std::string(id)};
    while (!keys.empty()) {
        const auto end = std::min(keys.find(' '), keys.size());
        if (end > 0) all.emplace_back(keys.substr(0, end));
        keys.remove_prefix(std::min(end + 1, keys.size()));
    }
    return all;
}

std::shared_ptr<Tracer> Tracer::make(const ClientInstance::Pointer& instance, const ClientOptions& options, const std::string& group,
                                     std::string_view kind, std::string topic) {
    ProducerOptions own;
    own.client = options;
    own.client.nameSpace.clear();
    own.group = "_INNER_TRACE_PRODUCER-" + group + "-" + std::string(kind) + "-1";
    own.sendTimeout = 5000ms;
    own.inFlightMax = 64;
    return std::make_shared<Tracer>(std::make_shared<ProducerCore>(instance, own), std::move(topic));
}

Tracer::Tracer(std::shared_ptr<ProducerCore> core, std::string topic)
    : core_(std::move(core)), topic_(std::move(topic)), timer_(std::make_shared<LoopTimer>(core_->instance().runtime().loop())) {}

Tracer::~Tracer() {
    // The timer ends on its loop, wherever the last user went.
    core_->instance().runtime().loop().post([timer = std::move(timer_)] { timer->cancel(); });
}

void Tracer::add(const std::vector<TraceRecord>& records) {
    for (const auto& record : records) {
        std::size_t keyBytes = 0;
        for (const auto& key : record.keys) keyBytes += key.size() + 1;
        if (text_.size() + record.text.size() > kTextMax || keyBytes_ + keyBytes > kKeyBytesMax) flush();
        text_ += record.text;
        keys_.insert(record.keys.begin(), record.keys.end());
        keyBytes_ += keyBytes;
    }
    if (++events_ >= kEventsMax) return flush();
    if (!timer_->planned()) timer_->once(5s, [weak = weak_from_this()] {
        if (const auto self = weak.lock()) self->flush();
    });
}

void Tracer::flush() {
    events_ = 0;
    keyBytes_ = 0;
    const auto keys = std::exchange(keys_, {});
    if (text_.empty()) return;
    const auto report = [core = core_](const Status& why) { core->instance().log().info("a trace was not sent: " + why.message()); };
    auto out = core_->outfitter().one({.topic = topic_, .body = std::exchange(text_, {}), .keys = {keys.begin(), keys.end()}});
    if (!out) return report(out.error());
    core_->send(std::move(*out), {}, core_->deadlineOf({}), [report](const Result<SendReceipt>& receipt) {
        if (!receipt) report(receipt.error());
    });
}

}  // namespace patchbay::client
