// Progress that the broker keeps (14, 15).
#include "consumer/OffsetStore.h"
#include "patchbay/protocol/headers/ConsumerOffset.h"

#include <charconv>
#include <utility>

namespace patchbay::client {

namespace {

using protocol::RemotingCommand;
using protocol::RequestCode;

constexpr std::chrono::seconds kTimeout{5};

class RemoteOffsets final : public OffsetStore {
public:
    RemoteOffsets(ClientInstance& instance, std::string group)
        : instance_(instance), group_(std::move(group)), alive_(std::make_shared<RemoteOffsets*>(this)) {}
    ~RemoteOffsets() override { *alive_ = nullptr; }

    void read(const MessageQueue& queue, Read done) override {
        const auto address = instance_.routes().addressOf(queue.brokerName, protocol::kMasterId);
        if (address.empty()) return done(Status(StatusCode::Unavailable, "broker '" + queue.brokerName + "' is in no route"));
        protocol::QueryConsumerOffsetRequest header;
        header.consumerGroup = group_;
        header.topic = queue.topic;
        header.queueId = queue.queueId;
        auto command = RemotingCommand::request(RequestCode::QueryConsumerOffset);
        command.setHeader(header);
        command.set("bname", queue.brokerName);
        auto& asker = instance_.asker();
        asker.ask(address, std::move(command), asker.deadlineIn(kTimeout), [done = std::move(done)](const Result<RemotingCommand>& answer) {
            if (!answer) return done(answer.error());
            if (answer->code == static_cast<std::int32_t>(protocol::ResponseCode::QueryNotFound)) return done(std::optional<std::int64_t>());
            if (answer->code != 0) return done(statusOf(*answer, "the group's offset"));
            const auto text = answer->find("offset").value_or("");
            std::int64_t offset = -1;
            std::from_chars(text.data(), text.data() + text.size(), offset);
            done(std::optional<std::int64_t>(offset));
        });
    }

    // Only what has changed, so that an idle consumer is silent; a write that failed is repeated with the next turn.
    void persist(const Written& done) override {
        auto left = std::make_shared<std::size_t>(1);
        auto worst = std::make_shared<Status>();
        const auto finish = [left, worst, done](const Status& status) {
            if (!status) *worst = status;
            if (--*left == 0 && done) done(*worst);
        };
        for (auto& [queue, entry] : entries_) {
            if (entry.offset < 0 || entry.offset == entry.written) continue;
            ++*left;
            // A broker that is slow to answer outlasts the consumer: nothing keeps it for the turns of its timer.
            write(queue, entry.offset, [alive = alive_, name = queue, offset = entry.offset, finish](const Status& status) {
                if (*alive != nullptr) (*alive)->written(name, offset, status);
                finish(status);
            });
        }
        finish(Status::ok());
    }

private:
    void written(const MessageQueue& queue, std::int64_t offset, const Status& status) {
        if (!status) {
            if (status.code() != StatusCode::Cancelled) instance_.log().info("progress is told to the broker later: " + status.message());
            return;
        }
        if (const auto found = entries_.find(queue); found != entries_.end()) found->second.written = offset;
    }

    void write(const MessageQueue& queue, std::int64_t offset, Written done) override {
        const auto address = instance_.routes().addressOf(queue.brokerName, protocol::kMasterId);
        if (address.empty()) return done({StatusCode::Unavailable, "broker '" + queue.brokerName + "' is in no route"});
        protocol::UpdateConsumerOffsetRequest header;
        header.consumerGroup = group_;
        header.topic = queue.topic;
        header.queueId = queue.queueId;
        header.commitOffset = offset;
        auto command = RemotingCommand::request(RequestCode::UpdateConsumerOffset);
        command.setHeader(header);
        command.set("bname", queue.brokerName);
        auto& asker = instance_.asker();
        asker.ask(address, std::move(command), asker.deadlineIn(kTimeout),
                  [done = std::move(done)](const Result<RemotingCommand>& answer) {
                      if (!answer) return done(answer.error());
                      done(answer->code == 0 ? Status::ok() : statusOf(*answer, "writing the group's offset"));
                  });
    }

    ClientInstance& instance_;
    const std::string group_;
    const std::shared_ptr<RemoteOffsets*> alive_;  // null when this is gone
};

}  // namespace

std::unique_ptr<OffsetStore> makeRemoteOffsets(ClientInstance& instance, std::string group) {
    return std::make_unique<RemoteOffsets>(instance, std::move(group));
}

}  // namespace patchbay::client
