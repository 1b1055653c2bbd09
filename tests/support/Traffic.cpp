#include "support/Traffic.h"

#include "support/Commands.h"

#include "patchbay/protocol/headers/Admin.h"
#include "patchbay/protocol/message/MessageRecord.h"

#include <algorithm>
#include <charconv>

namespace patchbay::test {

using namespace std::chrono_literals;
using protocol::RemotingCommand;
using protocol::RequestCode;
using protocol::ResponseCode;
using SteadyClock = std::chrono::steady_clock;

namespace {

constexpr std::int32_t kQueues = 4;
constexpr auto kClientPatience = 3000ms;   // what producers wait by default

}  // namespace

void Traffic::fail(const std::string& what) {
    const std::lock_guard lock(mutex_);
    if (failures_.size() < 2000) failures_ += what + "\n";
}

bool Traffic::good(const Result<RemotingCommand>& answer, std::initializer_list<int> codes, const char* what,
                   SteadyClock::time_point began, std::chrono::milliseconds limit) {
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(SteadyClock::now() - began);
    if (!answer) {
        fail(std::string(what) + ": " + answer.error().toString());
        return false;
    }
    if (std::find(codes.begin(), codes.end(), answer->code) == codes.end()) {
        fail(std::string(what) + ": code " + std::to_string(answer->code) + " " + answer->remark.value_or(""));
        return false;
    }
    if (took > limit) fail(std::string(what) + ": took " + std::to_string(took.count()) + " ms");
    return true;
}

void Traffic::send(std::int32_t queue) {
    RawClient client(port_);
    while (sending_.load()) {
        const auto began = SteadyClock::now();
        const auto answer = client.call(sendCommand(topic_, "a message while everything is exchanged", {.queue = queue}));
        if (!good(answer, {0}, "send", began, kClientPatience)) return;
        const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(SteadyClock::now() - began).count();
        for (auto known = slowestMs_.load(); ms > known && !slowestMs_.compare_exchange_weak(known, ms);) {
        }
        sent_.fetch_add(1);
        std::int64_t offset = -1;
        const auto text = answer->find("queueOffset").value_or("");
        std::from_chars(text.data(), text.data() + text.size(), offset);
        const std::lock_guard lock(mutex_);
        auto& end = ends_[static_cast<std::size_t>(queue)];
        end = std::max(end, offset + 1);
    }
}

void Traffic::pull(std::int32_t queue) {
    RawClient client(port_);
    std::int64_t next = 0;
    for (;;) {
        if (!pulling_.load()) {
            const std::lock_guard lock(mutex_);
            if (next >= ends_[static_cast<std::size_t>(queue)]) return;
        }
        const auto began = SteadyClock::now();
        const auto answer = client.call(pullCommand(topic_, queue, next));
        // Before the first send the topic is not there.
        if (answer && answer->code == static_cast<int>(ResponseCode::TopicNotExist) && next == 0) continue;
        if (!good(answer, {0, static_cast<int>(ResponseCode::PullNotFound)}, "pull", began, 1000ms + kClientPatience)) return;
        std::string_view rest = answer->body;
        while (!rest.empty()) {
            protocol::RecordView record;
            if (protocol::RecordView::parse(rest, record) != protocol::RecordStatus::Message) return fail("pull: not a record");
            if (record.queueOffset != next) return fail("pull: offset " + std::to_string(record.queueOffset) + " instead of " + std::to_string(next));
            ++next;
            pulled_.fetch_add(1);
            rest.remove_prefix(static_cast<std::size_t>(record.size));
        }
    }
}

void Traffic::ask() {
    RawClient client(port_);
    while (asking_.load()) {
        const auto began = SteadyClock::now();
        const auto answer = client.call(RemotingCommand::request(RequestCode::GetBrokerRuntimeInfo));
        if (!good(answer, {0}, "admin", began, kClientPatience)) return;
        asked_.fetch_add(1);
    }
}

void Traffic::start(int senders, int pullers, int administrators) {
    ends_.assign(kQueues, 0);
    pullers_ = pullers;
    for (int i = 0; i < senders; ++i) senders_.emplace_back([this, i] { send(i % kQueues); });
    for (int i = 0; i < pullers; ++i) others_.emplace_back([this, i] { pull(i % kQueues); });
    for (int i = 0; i < administrators; ++i) others_.emplace_back([this] { ask(); });
}

std::string Traffic::stop() {
    sending_.store(false);
    asking_.store(false);
    for (auto& thread : senders_) thread.join();
    pulling_.store(false);
    for (auto& thread : others_) thread.join();
    senders_.clear();
    others_.clear();
    const std::lock_guard lock(mutex_);
    return failures_;
}

}  // namespace patchbay::test
