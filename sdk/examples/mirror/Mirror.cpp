#include "Mirror.h"

#include <algorithm>

namespace mirror {

using namespace patchbay;
using protocol::ResponseCode;
using service::ReadStatus;

Status Mirror::configure(const plugin::ConfigView& view) {
    auto config = MirrorConfig::from(view);
    if (!config) return config.error();
    config_ = std::move(*config);
    return Status::ok();
}

Status Mirror::init(plugin::PluginContext& context) {
    if (auto found = context.services().require(store_); !found) return found;
    context_ = &context;
    if (config_.stateFile.empty()) config_.stateFile = context.identity().storeRoot + "/config/mirror.progress";
    progress_ = std::make_unique<Progress>(context.files(), config_.stateFile);
    targets_ = std::make_unique<Targets>(config_, context.remoting(), context.log(), context.clock(), mutex_);
    auto& metrics = context.metrics();
    counters_.forwarded = &metrics.counter("mirror_forwarded_total", "Messages that the other cluster has taken.");
    counters_.repeated = &metrics.counter("mirror_repeated_total", "Sends that failed and are repeated.");
    counters_.refused = &metrics.counter("mirror_refused_total", "Messages that were left out because the other cluster calls them illegal.");
    counters_.gone = &metrics.counter("mirror_gone_total", "Messages that were removed here before they could be forwarded.");
    return Status::ok();
}

Status Mirror::start() {
    {
        const std::lock_guard lock(mutex_);
        if (auto loaded = progress_->load(config_.topics); !loaded) return loaded;
        lookForQueues(true);
        if (auto saved = progress_->save(); !saved) return saved;
    }
    const auto locked = [this](void (Mirror::*work)()) {
        return [this, work] {
            const std::lock_guard lock(mutex_);
            (this->*work)();
        };
    };
    auto& timers = context_->timers();
    timers.every(config_.poll, config_.poll, locked(&Mirror::advanceAll));
    timers.every(config_.save, config_.save, locked(&Mirror::save));
    timers.every(config_.look, config_.look, [this] {
        const std::lock_guard lock(mutex_);
        lookForQueues(false);
    });
    return Status::ok();
}

void Mirror::drain() noexcept {
    const std::lock_guard lock(mutex_);
    ending_ = true;
}

void Mirror::stop() noexcept {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    save();
    targets_.reset();
    progress_.reset();
    queues_.clear();
    store_.reset();
}

void Mirror::lookForQueues(bool atStart) {
    for (const auto& found : store_->queues()) {
        if (std::ranges::find(config_.topics, found.topic) == config_.topics.end()) continue;
        const auto [entry, isNew] = queues_.try_emplace({found.topic, found.queueId});
        if (!isNew) continue;
        auto& queue = entry->second;
        queue.topic = found.topic;
        queue.id = found.queueId;
        const auto range = store_->range(found.topic, found.queueId);
        // A queue that appeared while the topic was mirrored already, or while nobody looked, is forwarded whole.
        const bool fromNowOn = atStart && !progress_->knows(found.topic) && !config_.fromBeginning;
        queue.next = progress_->next(found.topic, found.queueId).value_or(fromNowOn ? range.max : range.min);
        // At the start the newest messages may be missing after a power cut; a queue that comes up later began anew.
        if (queue.next > range.max) queue.next = atStart ? range.max : range.min;
        progress_->set(found.topic, found.queueId, queue.next);
    }
    for (const auto& topic : config_.topics) progress_->know(topic);
}

void Mirror::advanceAll() {
    for (auto& [name, queue] : queues_) advance(queue);
}

void Mirror::advance(Queue& queue) {
    if (ending_ || queue.sending || context_->clock().now() < queue.notBefore || inFlightBytes_ >= config_.inFlightBytesMax) return;
    const auto* target = targets_->queueFor(config_.prefix + queue.topic, queue.id);
    if (target == nullptr) return;
    const auto bundle = read(queue);
    if (!bundle) return;
    if (bundle->count() > 0) return send(queue, *bundle, *target);
    // Only messages that a mirror has brought: go on soon, after whatever else waits for this thread.
    moveTo(queue, bundle->end());
    context_->timers().post([this, &queue] {
        const std::lock_guard lock(mutex_);
        advance(queue);
    });
}

std::optional<Bundle> Mirror::read(Queue& queue) {
    const bool singly = queue.next < queue.singlyUntil;
    service::ReadResult found;
    store_->read(queue.topic, queue.id, queue.next, {singly ? 1 : config_.batchMessages, config_.batchBytes, false}, nullptr, found);
    if (found.status != ReadStatus::Found) {
        follow(queue, found);
        return std::nullopt;
    }
    Bundle bundle(context_->identity().clusterName);
    bundle.take(found);
    if (bundle.end() >= 0) return bundle;
    queue.notBefore = context_->clock().now() + config_.retry;
    context_->log().limited(plugin::LogLevel::Error, "a record cannot be read; the queue waits", {{"topic", queue.topic}, {"queue", queue.id}, {"offset", queue.next}});
    return std::nullopt;
}

void Mirror::follow(Queue& queue, const service::ReadResult& read) {
    switch (read.status) {
        case ReadStatus::OffsetTooSmall:
        case ReadStatus::Gone:
            counters_.gone->add(static_cast<std::uint64_t>(std::max<std::int64_t>(0, read.nextOffset - queue.next)));
            context_->log().limited(plugin::LogLevel::Warn, "messages were removed here before they were forwarded",
                                    {{"topic", queue.topic}, {"queue", queue.id}, {"from", queue.next}, {"to", read.nextOffset}});
            return moveTo(queue, read.nextOffset);
        case ReadStatus::NoSuchQueue:   // the topic was deleted; when it comes back its offsets begin at 0
            return queue.next == 0 ? void() : moveTo(queue, 0);
        case ReadStatus::OffsetBeyondEnd:
        case ReadStatus::NoMatchedMessage:
            return moveTo(queue, read.nextOffset);
        default:
            return;
    }
}

void Mirror::moveTo(Queue& queue, std::int64_t next) {
    queue.next = next;
    progress_->set(queue.topic, queue.id, next);
}

void Mirror::send(Queue& queue, const Bundle& bundle, const TargetQueue& to) {
    queue.sending = true;
    inFlightBytes_ += bundle.bytes();
    context_->remoting().invoke(to.address, bundle.request(config_.prefix + queue.topic, to), config_.timeout,
                                [this, &queue, count = bundle.count(), end = bundle.end(), bytes = bundle.bytes()](Result<protocol::RemotingCommand> answer) {
                                    answered(queue, answer, count, end, bytes);
                                });
}

void Mirror::answered(Queue& queue, const Result<protocol::RemotingCommand>& answer, std::size_t count, std::int64_t end, std::int64_t bytes) {
    const std::lock_guard lock(mutex_);
    queue.sending = false;
    inFlightBytes_ -= bytes;
    if (settled(queue, answer, count, end)) return advance(queue);
    if (ending_) return;
    counters_.repeated->add();
    queue.notBefore = context_->clock().now() + config_.retry;
    targets_->forget(config_.prefix + queue.topic);
    context_->log().limited(plugin::LogLevel::Warn, "the other cluster did not take messages; they are sent again",
                            {{"topic", queue.topic}, {"queue", queue.id}, {"offset", queue.next},
                             {"error", answer ? "code " + std::to_string(answer->code) + " " + answer->remark.value_or("") : answer.error().toString()}});
}

bool Mirror::settled(Queue& queue, const Result<protocol::RemotingCommand>& answer, std::size_t count, std::int64_t end) {
    if (!answer) return false;
    switch (static_cast<ResponseCode>(answer->code)) {
        case ResponseCode::Success:
        case ResponseCode::FlushDiskTimeout:     // stored, as the three say
        case ResponseCode::SlaveNotAvailable:
        case ResponseCode::FlushSlaveTimeout:
            counters_.forwarded->add(count);
            moveTo(queue, end);
            return true;
        case ResponseCode::MessageIllegal:
            if (count > 1) {
                queue.singlyUntil = end;
                return true;
            }
            // It would stand in the way of all that come after it, for ever.
            counters_.refused->add();
            context_->log().error("a message is left out: the other cluster calls it illegal",
                                  {{"topic", queue.topic}, {"queue", queue.id}, {"offset", end - 1}, {"error", answer->remark.value_or("")}});
            moveTo(queue, end);
            return true;
        default:
            return false;
    }
}

void Mirror::save() {
    if (auto saved = progress_->save(); !saved) {
        context_->log().limited(plugin::LogLevel::Error, "how far the mirror is cannot be written down", {{"error", saved.toString()}});
    }
}

}  // namespace mirror
