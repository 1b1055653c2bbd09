#include "patchbay/client/Allocation.h"

#include <Poco/MD5Engine.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

namespace patchbay::client {

namespace {

using Queues = std::span<const MessageQueue>;
using Consumers = std::span<const std::string>;

std::size_t placeOf(std::string_view self, Consumers consumers) {
    return static_cast<std::size_t>(std::find(consumers.begin(), consumers.end(), self) - consumers.begin());
}

class Averagely final : public AllocationStrategy {
public:
    std::vector<MessageQueue> allocate(std::string_view self, Queues queues, Consumers consumers) const override {
        const auto place = placeOf(self, consumers);
        if (place == consumers.size()) return {};
        const auto share = queues.size() / consumers.size();
        const auto rest = queues.size() % consumers.size();
        const auto first = place * share + std::min(place, rest);
        const auto count = share + (place < rest ? 1 : 0);
        const auto mine = queues.subspan(first, count);
        return {mine.begin(), mine.end()};
    }
    std::string_view name() const noexcept override { return "AVG"; }
};

class ByCircle final : public AllocationStrategy {
public:
    std::vector<MessageQueue> allocate(std::string_view self, Queues queues, Consumers consumers) const override {
        std::vector<MessageQueue> mine;
        const auto place = placeOf(self, consumers);
        if (place == consumers.size()) return mine;
        for (auto i = place; i < queues.size(); i += consumers.size()) mine.push_back(queues[i]);
        return mine;
    }
    std::string_view name() const noexcept override { return "AVG_BY_CIRCLE"; }
};

class Configured final : public AllocationStrategy {
public:
    explicit Configured(std::vector<MessageQueue> queues) : queues_(std::move(queues)) {}
    // A strategy is asked for one topic at a time.
    std::vector<MessageQueue> allocate(std::string_view, Queues queues, Consumers) const override {
        std::vector<MessageQueue> mine;
        for (const auto& queue : queues_) {
            if (queues.empty() || queue.topic == queues.front().topic) mine.push_back(queue);
        }
        return mine;
    }
    std::string_view name() const noexcept override { return "CONFIG"; }

private:
    const std::vector<MessageQueue> queues_;
};

class ByMachineRoom final : public AllocationStrategy {
public:
    explicit ByMachineRoom(std::set<std::string> rooms) : rooms_(std::move(rooms)) {}
    // Whole shares from the front; what is left over goes from the tail to the first consumers, as Java does it.
    std::vector<MessageQueue> allocate(std::string_view self, Queues queues, Consumers consumers) const override {
        const auto place = placeOf(self, consumers);
        if (place == consumers.size()) return {};
        std::vector<MessageQueue> ours;
        for (const auto& queue : queues) {
            const auto at = queue.brokerName.find('@');
            const bool one = at != std::string::npos && queue.brokerName.find('@', at + 1) == std::string::npos;
            if (one && rooms_.contains(queue.brokerName.substr(0, at))) ours.push_back(queue);
        }
        const auto share = ours.size() / consumers.size();
        const auto rest = ours.size() % consumers.size();
        std::vector<MessageQueue> mine(ours.begin() + static_cast<std::ptrdiff_t>(share * place),
                                       ours.begin() + static_cast<std::ptrdiff_t>(share * (place + 1)));
        if (place < rest) mine.push_back(ours[share * consumers.size() + place]);
        return mine;
    }
    std::string_view name() const noexcept override { return "MACHINE_ROOM"; }

private:
    const std::set<std::string> rooms_;
};

class Nearby final : public AllocationStrategy {
public:
    using RoomOf = std::function<std::string(const std::string&)>;
    Nearby(AllocationPtr inner, RoomOf ofBroker, RoomOf ofConsumer)
        : inner_(std::move(inner)), ofBroker_(std::move(ofBroker)), ofConsumer_(std::move(ofConsumer)),
          name_("MACHINE_ROOM_NEARBY-" + std::string(inner_->name())) {}

    std::vector<MessageQueue> allocate(std::string_view self, Queues queues, Consumers consumers) const override {
        std::map<std::string, std::vector<std::string>> consumersIn;
        for (const auto& consumer : consumers) consumersIn[ofConsumer_(consumer)].push_back(consumer);
        std::map<std::string, std::vector<MessageQueue>> queuesIn;
        for (const auto& queue : queues) queuesIn[ofBroker_(queue.brokerName)].push_back(queue);
        const auto ownRoom = ofConsumer_(std::string(self));
        std::vector<MessageQueue> mine;
        for (const auto& [room, there] : queuesIn) {
            const auto found = consumersIn.find(room);
            if (found != consumersIn.end() && room != ownRoom) continue;
            const auto part = inner_->allocate(self, there, found != consumersIn.end() ? Consumers(found->second) : consumers);
            mine.insert(mine.end(), part.begin(), part.end());
        }
        return mine;
    }
    std::string_view name() const noexcept override { return name_; }

private:
    const AllocationPtr inner_;
    const RoomOf ofBroker_;
    const RoomOf ofConsumer_;
    const std::string name_;
};

class ByConsistentHash final : public AllocationStrategy {
public:
    explicit ByConsistentHash(int virtualNodes) : virtualNodes_(std::max(virtualNodes, 1)) {}

    std::vector<MessageQueue> allocate(std::string_view self, Queues queues, Consumers consumers) const override {
        std::map<std::uint32_t, std::string_view> ring;
        for (const auto& consumer : consumers) {
            for (int i = 0; i < virtualNodes_; ++i) ring[hashOf(consumer + "-" + std::to_string(i))] = consumer;
        }
        std::vector<MessageQueue> mine;
        for (const auto& queue : queues) {
            // The text is what Java's MessageQueue.toString() gives, because it is hashed there.
            const auto at = ring.lower_bound(hashOf("MessageQueue [topic=" + queue.topic + ", brokerName=" + queue.brokerName + ", queueId=" +
                                                    std::to_string(queue.queueId) + "]"));
            if (!ring.empty() && (at == ring.end() ? ring.begin() : at)->second == self) mine.push_back(queue);
        }
        return mine;
    }
    std::string_view name() const noexcept override { return "CONSISTENT_HASH"; }

private:
    static std::uint32_t hashOf(const std::string& text) {
        Poco::MD5Engine engine;
        engine.update(text);
        const auto& digest = engine.digest();
        return std::uint32_t{digest[0]} << 24 | std::uint32_t{digest[1]} << 16 | std::uint32_t{digest[2]} << 8 | std::uint32_t{digest[3]};
    }
    const int virtualNodes_;
};

}  // namespace

AllocationPtr allocateAveragely() { return std::make_shared<Averagely>(); }
AllocationPtr allocateByCircle() { return std::make_shared<ByCircle>(); }
AllocationPtr allocateConfigured(std::vector<MessageQueue> queues) { return std::make_shared<Configured>(std::move(queues)); }
AllocationPtr allocateByMachineRoom(std::set<std::string> rooms) { return std::make_shared<ByMachineRoom>(std::move(rooms)); }
AllocationPtr allocateNearby(AllocationPtr inner, std::function<std::string(const std::string&)> roomOfBroker,
                             std::function<std::string(const std::string&)> roomOfConsumer) {
    return std::make_shared<Nearby>(std::move(inner), std::move(roomOfBroker), std::move(roomOfConsumer));
}
AllocationPtr allocateByConsistentHash(int virtualNodes) { return std::make_shared<ByConsistentHash>(virtualNodes); }

}  // namespace patchbay::client
