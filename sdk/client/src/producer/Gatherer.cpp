#include "producer/Gatherer.h"

#include "patchbay/protocol/message/Names.h"

#include <algorithm>
#include <utility>

namespace patchbay::client {

bool Gatherer::takes(const Message& message, const SendOptions& sending) const {
    const auto& options = core_->options();
    const bool packed = options.compression != Compression::None && message.body.size() >= options.compressFrom;
    const bool delayed = message.delayLevel || message.delay || message.deliverAt;
    return !sending.selector && !sending.timeout && !packed && !delayed && message.body.size() < options.gatherBytes && !protocol::isRetryTopic(message.topic);
}

void Gatherer::send(Message message, ProducerCore::Target target, MonotonicTime deadline, ProducerCore::Done done) {
    if (core_->isClosed()) return done(Status(StatusCode::Unavailable, "the producer is closed"));
    const auto key = keyOf(message, target);
    std::unique_lock lock(mutex_);
    auto at = open_.find(key);
    if (at != open_.end() && at->second.bytes() + message.body.size() > core_->options().gatherBytes) {
        send(at);
        at = open_.end();
    }
    if (at == open_.end()) {
        lock.unlock();
        if (auto entered = core_->enter(deadline); !entered) return done(std::move(entered));
        lock.lock();
        const auto [place, fresh] = open_.try_emplace(key);
        at = place;
        if (fresh) {
            at->second.number = ++numbers_;
            at->second.deadline = deadline;
            openUntilTime(key, at->second.number);
        } else {
            core_->finished();   // somebody else was quicker
        }
    }
    at->second.deadline = std::min(at->second.deadline, deadline);
    // They cannot share a batch, but the order of one place is for both.
    if (!key.orderKey.empty() || key.queue) {
        auto sibling = key;
        sibling.waitForStore = !key.waitForStore;
        sendIfOpen(sibling);
    }
    add(at, std::move(message), std::move(done));
    if (at->second.out.body.size() >= core_->options().gatherBytes) send(at);
}

void Gatherer::add(Batches::iterator at, Message message, ProducerCore::Done done) {
    auto& batch = at->second;
    const auto& outfitter = core_->outfitter();
    if (batch.done.empty()) {
        batch.only = std::move(message);
        batch.done.push_back(std::move(done));
        return;
    }
    if (batch.only) {
        const auto first = std::move(*std::exchange(batch.only, std::nullopt));
        batch.out = outfitter.emptyBatch(first);
        batch.out.gathered = true;
        if (auto status = outfitter.append(first, batch.out); !status) {
            std::exchange(batch.done.front(), std::move(done))(std::move(status));
            batch.only = std::move(message);
            return;
        }
    }
    if (auto status = outfitter.append(message, batch.out); !status) return done(std::move(status));
    batch.done.push_back(std::move(done));
}

void Gatherer::openUntilTime(const Key& key, std::uint64_t number) {
    auto& loop = core_->instance().runtime().loop();
    loop.post([self = shared_from_this(), key, number, &loop] {
        loop.after(self->core_->options().gatherTime, [self, key, number] {
            const std::lock_guard lock(self->mutex_);
            const auto at = self->open_.find(key);
            if (at != self->open_.end() && at->second.number == number) self->send(at);
        });
    });
}

// Under the lock, so that batches of one place leave in the order in which they were begun.
void Gatherer::send(Batches::iterator at) {
    auto batch = std::move(at->second);
    ProducerCore::Target target{at->first.orderKey, at->first.queue, {}};
    open_.erase(at);
    if (!batch.only) return core_->sendEntered(std::move(batch.out), std::move(target), batch.deadline, forAll(std::move(batch.done)));
    auto out = core_->outfitter().one(*batch.only);
    if (out) return core_->sendEntered(std::move(*out), std::move(target), batch.deadline, std::move(batch.done.front()));
    core_->finished();
    batch.done.front()(out.error());
}

ProducerCore::Done Gatherer::forAll(std::vector<ProducerCore::Done> done) {
    return [done = std::move(done)](const Result<SendReceipt>& result) {
        auto ids = splitIds(result ? result->messageId : std::string(), done.size());
        auto offsetIds = splitIds(result ? result->offsetMessageId : std::string(), done.size());
        for (std::size_t i = 0; i < done.size(); ++i) {
            if (!result) {
                done[i](result.error());
                continue;
            }
            auto receipt = *result;
            receipt.messageId = std::move(ids[i]);
            receipt.offsetMessageId = std::move(offsetIds[i]);
            receipt.queueOffset += static_cast<std::int64_t>(i);
            done[i](std::move(receipt));
        }
    };
}

void Gatherer::sendIfOpen(const Key& key) {
    if (const auto at = open_.find(key); at != open_.end()) send(at);
}

void Gatherer::flush(const std::string& topic, const ProducerCore::Target& target) {
    const std::lock_guard lock(mutex_);
    for (const bool waitForStore : {false, true}) sendIfOpen({topic, target.orderKey, target.queue, waitForStore});
}

void Gatherer::flush() {
    const std::lock_guard lock(mutex_);
    while (!open_.empty()) send(open_.begin());
}

}  // namespace patchbay::client
