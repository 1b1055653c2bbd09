// ConsumerFixture: producers and consumers for one test.
#pragma once

#include "ClientFixture.h"
#include "patchbay/client/Producer.h"
#include "patchbay/client/PushConsumer.h"
#include "support/TempFolder.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace patchbay::test {

/// Bodies that listeners have seen.
class Seen {
public:
    /// `work`: how long it takes for each call.
    client::Listener listener(std::chrono::milliseconds work = {}) {
        return [this, work](std::span<const client::ReceivedMessage> messages, client::ConsumeContext&) {
            if (work.count() > 0) std::this_thread::sleep_for(work);
            const std::lock_guard lock(mutex_);
            for (const auto& message : messages) {
                bodies_.insert(std::string(message.body()));
                lastTopic_ = message.topic();
                ++total_;
            }
            return client::ConsumeResult::Success;
        };
    }
    /// Different ones.
    [[nodiscard]] int count() const { const std::lock_guard lock(mutex_); return static_cast<int>(bodies_.size()); }
    [[nodiscard]] int total() const { const std::lock_guard lock(mutex_); return total_; }
    [[nodiscard]] bool has(const std::string& body) const { const std::lock_guard lock(mutex_); return bodies_.contains(body); }
    [[nodiscard]] std::string lastTopic() const { const std::lock_guard lock(mutex_); return lastTopic_; }

private:
    mutable std::mutex mutex_;
    std::set<std::string> bodies_;
    std::string lastTopic_;
    int total_ = 0;
};

class ConsumerFixture : public ClientFixture {
protected:
    client::ProducerOptions producerOptions() {
        client::ProducerOptions made;
        made.client = options();
        made.group = fresh("Producers");
        return made;
    }
    client::Producer producer() {
        auto made = client::Producer::create(producerOptions());
        EXPECT_TRUE(made) << made.error().toString();
        return std::move(*made);
    }
    /// Reads from the beginning and tells its progress often.
    client::ConsumerOptions consumerOptions() {
        client::ConsumerOptions made;
        made.client = options();
        made.group = fresh("Readers");
        made.from = client::ConsumeFrom::FirstOffset;
        made.offsetInterval = std::chrono::milliseconds(200);
        return made;
    }
    client::PushConsumer pushConsumer(const std::string& topic, Seen& seen, std::optional<client::ConsumerOptions> with = {}) {
        auto made = client::PushConsumer::create(with ? *with : consumerOptions());
        EXPECT_TRUE(made) << made.error().toString();
        const auto subscribed = made->subscribe(topic);
        EXPECT_TRUE(subscribed) << subscribed.toString();
        const auto started = made->consume(seen.listener());
        EXPECT_TRUE(started) << started.toString();
        return std::move(*made);
    }
    /// "body <first>" and so on, round robin.
    void send(const std::string& topic, int count, int first = 0) {
        auto sender = producer();
        for (int i = first; i < first + count; ++i) {
            const auto receipt = sender.send({.topic = topic, .body = "body " + std::to_string(i)});
            ASSERT_TRUE(receipt) << receipt.error().toString();
        }
    }
};

}  // namespace patchbay::test
