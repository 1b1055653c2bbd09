#include "TransactionPlugin.h"

#include "Recovery.h"

#include "patchbay/plugin/Administration.h"
#include "patchbay/protocol/message/Names.h"

#include <array>
#include <utility>

namespace patchbay::plugins::transaction {

Status TransactionPlugin::configure(const plugin::ConfigView& view) {
    config_.load(view);
    return Status::ok();
}

Status TransactionPlugin::reconfigure(const plugin::ConfigView& view, std::span<const std::string_view>) {
    config_.load(view);
    return Status::ok();
}

Status TransactionPlugin::init(plugin::PluginContext& context) {
    auto running = std::make_unique<Running>();
    plugin::Services& services = context.services();
    if (auto found = services.require(running->store); !found) return found;
    if (auto found = services.require(running->offsets); !found) return found;
    if (auto found = services.require(running->clients); !found) return found;
    if (auto found = services.require(running->topics); !found) return found;
    running->delay = services.want<service::DelaySchedule>();

    running->ops = std::make_unique<OpLog>(*running->store, context, config_.opBodyBytesMax);
    const CheckerServices lent{*running->store, *running->offsets, *running->clients, *running->topics};
    running->checker = std::make_unique<Checker>(lent, running->table, *running->ops, config_, context);
    service::DelaySchedule* delay = running->delay ? &*running->delay : nullptr;
    running->processor = std::make_unique<EndProcessor>(*running->store, delay, running->table, *running->ops, config_, context);
    running_ = std::move(running);
    if (auto published = services.publish<service::TransactionStore>(*this); !published) return published;

    static constexpr std::array kEnd{protocol::RequestCode::EndTransaction};
    static constexpr std::array kResume{protocol::RequestCode::ResumeCheckHalfMessage};
    plugin::BindOptions options;
    options.executor.name = "transaction";  // for half messages that have to be read from the disk
    options.loopSafe = true;
    if (auto bound = context.processors().bind(kEnd, *running_->processor, options); !bound) return bound;
    options.loopSafe = false;
    return plugin::bindAdministration(context.processors(), kResume, *running_->processor, options);
}

Status TransactionPlugin::start() {
    recover(*running_->store, *running_->offsets, running_->table, *running_->ops);
    running_->store->addListener(*this);
    running_->started = true;
    running_->table.extend(running_->store->range(protocol::kTopicTransHalf, kQueueId).max);
    if (running_->table.open() > 0) running_->checker->arm();
    return Status::ok();
}

void TransactionPlugin::drain() noexcept {
    if (!running_) return;
    running_->checker->drain();
    for (auto& request : running_->table.release()) std::move(request).redispatch();
}

void TransactionPlugin::stop() noexcept {
    if (!running_) return;
    running_->checker->drain();
    if (running_->started) {
        running_->store->removeListener(*this);
        running_->processor->awaitIdle();
        running_->checker->stop();
    }
    running_.reset();
}

void TransactionPlugin::prepare(service::AppendItem& item, std::string& properties) { makeHalf(item, properties); }

void TransactionPlugin::appended(std::span<const service::AppendedRecord> records) noexcept {
    std::int64_t end = 0;
    for (const auto& record : records) {
        if (record.topic == protocol::kTopicTransHalf && record.queueId == kQueueId) end = record.queueOffset + 1;
    }
    if (end == 0) return;
    running_->table.extend(end);
    running_->checker->arm();
}

}  // namespace patchbay::plugins::transaction
