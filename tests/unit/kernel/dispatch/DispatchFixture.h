// A dispatcher without sockets: loops that the test turns, and origins that collect answers.
#pragma once

#include "dispatch/Dispatcher.h"
#include "dispatch/Registrations.h"
#include "patchbay/protocol/RemotingCommand.h"
#include "patchbay/testkit/FakeRuntime.h"
#include "patchbay/testkit/ManualClock.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace patchbay::kernel {

using protocol::RemotingCommand;
using protocol::RequestCode;
using protocol::ResponseCode;

/// A peer whose answers are decoded as they come. answers() is for any thread.
class TestOrigin final : public RequestOrigin {
public:
    explicit TestOrigin(net::EventLoop& loop) : RequestOrigin(loop, 0) {}
    std::uint64_t id() const noexcept override { return 1; }
    const SocketAddress& remote() const noexcept override { return address_; }
    const SocketAddress& local() const noexcept override { return address_; }
    bool isLocal() const noexcept override { return true; }
    std::string_view listener() const noexcept override { return "broker"; }
    bool isOpen() const noexcept override { return open; }
    Status push(RemotingCommand) noexcept override { return Status::ok(); }
    void invoke(RemotingCommand, std::chrono::milliseconds, plugin::InvokeDone) noexcept override {}
    void close(std::string_view) noexcept override { open = false; }

    protocol::ByteWriter* output() noexcept override { return open ? &out_ : nullptr; }
    void addOutput(std::string_view piece, KeepAlive) override { out_.append(piece); }
    void outputDone() noexcept override {
        auto answer = RemotingCommand::decode(out_.view());
        raw = std::string(out_.view());
        out_.clear();
        const std::lock_guard lock(mutex_);
        answers_.push_back(answer.value());
    }
    void requestLeft() noexcept override { left.fetch_add(1); }
    bool isCrowded() const noexcept override { return crowded.load(); }
    void promise(std::size_t bytes) noexcept override { promised.fetch_add(bytes); }
    void arrived(std::size_t bytes) noexcept override { promised.fetch_sub(bytes); }
    void holdBack(ServerRequest& request) noexcept override {
        heldBack.add(request);
        heldBackCount.fetch_add(1);
    }
    void releasedLeft() noexcept override { releasedAndLeft.fetch_add(1); }

    [[nodiscard]] std::vector<RemotingCommand> answers() const {
        const std::lock_guard lock(mutex_);
        return answers_;
    }
    std::atomic<int> left{0};
    std::atomic<bool> crowded{false};
    std::atomic<std::size_t> promised{0};
    std::atomic<int> heldBackCount{0};
    std::atomic<int> releasedAndLeft{0};
    RequestList heldBack;
    bool open = true;
    std::string raw;

private:
    SocketAddress address_;
    protocol::ByteWriter out_;
    mutable std::mutex mutex_;
    std::vector<RemotingCommand> answers_;
};

/// A processor made of functions.
class TestProcessor final : public plugin::Processor {
public:
    using Process = std::function<void(plugin::Request)>;
    explicit TestProcessor(Process process) : process_(std::move(process)) {}
    void process(plugin::Request request) override { process_(std::move(request)); }
    void endOfBatch(plugin::Lane lane) noexcept override { if (onBatch) onBatch(lane); }
    bool admits(const protocol::CommandView&) noexcept override { return admit; }
    std::function<void(plugin::Lane)> onBatch;
    bool admit = true;

private:
    Process process_;
};

class DispatchFixture : public ::testing::Test {
protected:
    explicit DispatchFixture(std::uint32_t loopCount = 1) : loops(loopCount, clock, {}) {}

    /// Registrations of a new generation of a plugin.
    Registrations& generation(const std::string& name, std::uint32_t number = 1) {
        registrations.push_back(std::make_unique<Registrations>(Ref<Generation>::adopt(new Generation(name, number)), executors,
                                                                std::vector<std::string>{"broker", "namesrv"},
                                                                std::vector<const Registrations*>{}));
        return *registrations.back();
    }
    void publish(std::vector<const Registrations*> which) { dispatcher.publish(RouteTable::build(2, which)); }
    /// Binds code 310 alone and publishes it.
    void serve(plugin::Processor& processor, plugin::BindOptions options = {.loopSafe = true, .executor = {}}) {
        auto& made = generation("test");
        const RequestCode codes[] = {RequestCode::SendMessageV2};
        ASSERT_TRUE(made.bind(codes, processor, options));
        publish({&made});
    }
    static RemotingCommand request(std::int32_t opaque, std::int32_t flag = 0, std::int32_t code = 310) {
        RemotingCommand command;
        command.code = code;
        command.opaque = opaque;
        command.flag = flag;
        command.set("topic", "T");
        return command;
    }
    /// The frames arrive in one turn.
    void arrive(TestOrigin& at, std::vector<RemotingCommand> commands,
                protocol::SerializeType type = protocol::SerializeType::Json) {
        at.originLoop.post([this, &at, commands = std::move(commands), type] {
            for (const auto& command : commands) enterFrame(at, command.encode(type).value());
        });
    }
    void enterFrame(TestOrigin& at, const std::string& frame) {
        auto chunk = Ref<net::ReceiveChunk>::adopt(new net::ReceiveChunk(frame.size()));
        std::memcpy(chunk->data(), frame.data(), frame.size());
        auto& fresh = dispatcher.fresh(at, *chunk);
        ASSERT_TRUE(protocol::CommandView::decode({chunk->data() + 4, frame.size() - 4}, fresh.view));
        dispatcher.enter(fresh);
    }
    void turn() { loops.loop(0).turn(0); }
    /// Turns until so many answers came; at most 10 s.
    void turnUntil(std::size_t answers) {
        for (int i = 0; i < 1'000 && origin->answers().size() < answers; ++i) loops.loop(0).turn(10);
        ASSERT_GE(origin->answers().size(), answers);
    }

    testkit::ManualClock clock;
    testkit::FakeLogger log;
    testkit::FakeMetrics metrics;
    net::EventLoopPool loops;
    Executors executors{loops.size(), 8, clock};
    Dispatcher dispatcher{loops, executors, clock, log, metrics};
    std::vector<std::unique_ptr<Registrations>> registrations;
    Ref<TestOrigin> origin = Ref<TestOrigin>::adopt(new TestOrigin(loops.loop(0)));
};

}  // namespace patchbay::kernel
