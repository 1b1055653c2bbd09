#include "instance/ClientInstance.h"

#include "instance/Identity.h"
#include "patchbay/protocol/headers/Client.h"
#include "patchbay/protocol/message/MessageRecord.h"
#include "patchbay/protocol/message/Properties.h"

#include <algorithm>
#include <atomic>
#include <random>
#include <unistd.h>
#include <utility>

namespace patchbay::client {

using protocol::HeartbeatData;
using protocol::RemotingCommand;
using protocol::RequestCode;
using protocol::ResponseCode;

namespace {

using namespace std::chrono_literals;

// Never destroyed, as the runtime: handles may end after the process's static objects.
struct Registry {
    std::mutex mutex;
    std::vector<std::weak_ptr<ClientInstance>> all;
};
Registry& registry() {
    static auto* const one = new Registry;
    return *one;
}

bool mayShare(const ClientOptions& a, const ClientOptions& b) {
    return a.nameServers == b.nameServers && a.nameServerUrl == b.nameServerUrl && a.instanceName == b.instanceName &&
           a.nameSpace == b.nameSpace && a.unitName == b.unitName && a.credentials == b.credentials &&
           a.requestTimeout == b.requestTimeout && a.connectTimeout == b.connectTimeout &&
           a.heartbeatInterval == b.heartbeatInterval && a.routeRefreshInterval == b.routeRefreshInterval &&
           a.heartbeatV2 == b.heartbeatV2 && a.security == b.security && !a.log == !b.log;
}

Status check(const ClientOptions& options) {
    if (options.requestTimeout < 1ms || options.connectTimeout < 1ms) {
        return {StatusCode::InvalidArgument, "requestTimeout and connectTimeout have to be at least 1 ms"};
    }
    if (options.heartbeatInterval < 1s || options.heartbeatInterval > 60s) {
        return {StatusCode::InvalidArgument, "heartbeatInterval has to be 1 s to 60 s, because brokers forget a client after 120 s"};
    }
    if (options.routeRefreshInterval < 1s) return {StatusCode::InvalidArgument, "routeRefreshInterval has to be at least 1 s"};
    return Status::ok();
}

std::uint32_t discriminator() {
    static std::atomic<std::uint32_t> next{std::random_device()()};
    return next.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

Result<ClientInstance::Pointer> ClientInstance::acquire(const ClientOptions& options, const Seat& seat) {
    if (auto status = check(options); !status) return status;
    auto& known = registry();
    const std::lock_guard lock(known.mutex);
    std::erase_if(known.all, [](const auto& one) { return one.expired(); });
    for (const auto& one : known.all) {
        auto instance = one.lock();
        if (instance && mayShare(instance->options_, options) && instance->take(seat)) return instance;
    }
    auto made = make(options, Runtime::process(), makeTcpDialer(options.security));
    static_cast<void>(made->take(seat));
    known.all.push_back(made);
    return made;
}

ClientInstance::Pointer ClientInstance::make(const ClientOptions& options, Runtime& runtime, std::unique_ptr<Dialer> dialer) {
    Pointer made(new ClientInstance(options, runtime), [](ClientInstance* instance) {
        auto& loop = instance->runtime_.loop();
        loop.post([instance] { delete instance; });
    });
    runtime.call([&] { made->start(std::move(dialer)); });
    return made;
}

ClientInstance::ClientInstance(ClientOptions options, Runtime& runtime)
    : options_(std::move(options)), runtime_(runtime), clientId_(makeClientId(options_)), log_(options_.log),
      frames_(options_.credentials, protocol::Language::Cpp),
      ids_(runtime.clock(), localAddress(), static_cast<std::uint32_t>(::getpid()), discriminator()),
      heartbeatTimer_(runtime.loop()), routeTimer_(runtime.loop()) {}

void ClientInstance::start(std::unique_ptr<Dialer> dialer) {
    ChannelListener& listener = *this;
    channels_ = std::make_unique<Channels>(runtime_, std::move(dialer), options_.connectTimeout, listener);
    asker_ = std::make_unique<Asker>(runtime_, frames_, *channels_);
    nameServers_ = std::make_unique<NameServers>(*asker_, options_, std::random_device()() % 999);
    routes_ = std::make_unique<RouteCache>(*nameServers_, *asker_, options_.requestTimeout,
                                           [this](const std::string& topic, const RoutePtr& route) { routeChanged(topic, route); });
    heartbeats_ = std::make_unique<Heartbeats>(*asker_, log_, options_.requestTimeout, options_.heartbeatV2);
    heartbeatTimer_.every(1s, options_.heartbeatInterval, [this] {
        closeUnused();
        heartbeat(false);
    });
    routeTimer_.every(options_.routeRefreshInterval, options_.routeRefreshInterval, [this] { routes_->refreshAll(); });
}

// Calls under way fail first, while everything that they refer to is still there; then questions that wait for a name server.
ClientInstance::~ClientInstance() {
    channels_->closeAll();
    nameServers_.reset();
}

bool ClientInstance::take(const Seat& seat) {
    const std::lock_guard lock(mutex_);
    return seat.group.empty() || seats_.insert(seat).second;
}

void ClientInstance::giveBack(const Seat& seat) {
    const std::lock_guard lock(mutex_);
    seats_.erase(seat);
}

void ClientInstance::add(Member& member) { members_.push_back(&member); }

void ClientInstance::remove(Member& member, std::function<void()> done) {
    if (std::erase(members_, &member) == 0) return done();
    protocol::UnregisterClientRequest header;
    header.clientId = clientId_;
    (member.isConsumer() ? header.consumerGroup : header.producerGroup) = member.group();
    auto command = RemotingCommand::request(RequestCode::UnregisterClient);
    command.setHeader(header);
    auto left = std::make_shared<std::size_t>(1);
    const auto finish = [left, done = std::move(done)] {
        if (--*left == 0) done();
    };
    for (const auto& address : routes_->brokers(true)) {
        if (!channels_->isConnected(address)) continue;
        ++*left;
        asker_->ask(address, command, asker_->deadlineIn(1s), [finish](const Result<RemotingCommand>&) { finish(); });
    }
    finish();
}

bool ClientInstance::hasConsumer() const {
    return std::any_of(members_.begin(), members_.end(), [](const Member* member) { return member->isConsumer(); });
}

HeartbeatData ClientInstance::heartbeatData() const {
    HeartbeatData data;
    data.clientId = clientId_;
    for (const auto* member : members_) member->describe(data);
    return data;
}

void ClientInstance::heartbeat(bool whole) {
    if (!members_.empty()) heartbeats_->send(routes_->brokers(hasConsumer()), heartbeatData(), whole);
}

void ClientInstance::heartbeat(std::function<void()> done) {
    const auto addresses = routes_->brokers(hasConsumer());
    if (members_.empty() || addresses.empty()) return done();
    auto left = std::make_shared<std::size_t>(addresses.size());
    heartbeats_->send(addresses, heartbeatData(), true, [left, done = std::move(done)](const std::string&, bool) {
        if (--*left == 0) done();
    });
}

void ClientInstance::routeChanged(const std::string& topic, const RoutePtr& route) {
    const auto members = members_;
    for (auto* member : members) member->routeChanged(topic, route);
}

void ClientInstance::closeUnused() {
    const auto brokers = routes_->brokers(true);
    if (brokers.empty()) return;
    channels_->closeExcept([&](const std::string& address) { return brokers.contains(address) || nameServers_->contains(address); });
}

void ClientInstance::connected(const std::string& address) {
    if (members_.empty() || !routes_->brokers(hasConsumer()).contains(address)) return;
    heartbeats_->send({address}, heartbeatData(), true, [this](const std::string&, bool accepted) {
        const auto members = accepted ? members_ : std::vector<Member*>();
        for (auto* member : members) member->groupChanged();
    });
}

void ClientInstance::disconnected(const std::string& address, std::string_view why) {
    log_.info("connection to " + address + " ended: " + std::string(why));
}

Member* ClientInstance::find(bool consumer, std::string_view group) const {
    for (auto* member : members_) {
        if (member->isConsumer() == consumer && member->group() == group) return member;
    }
    return nullptr;
}

void ClientInstance::serverRequest(Channel& channel, const protocol::CommandView& request) {
    switch (static_cast<RequestCode>(request.code)) {
        case RequestCode::NotifyConsumerIdsChanged:
            for (auto* member : std::vector<Member*>(members_)) member->groupChanged();
            return;
        case RequestCode::PushReplyMessageToClient: return reply(channel, request);
        case RequestCode::CheckTransactionState:
        case RequestCode::ResetConsumerClientOffset:
        case RequestCode::GetConsumerStatusFromClient:
        case RequestCode::GetConsumerRunningInfo:
        case RequestCode::ConsumeMessageDirectly: return forMember(channel, request);
        default: break;
    }
    if (request.isOneway()) return;
    auto answer = RemotingCommand::response(ResponseCode::RequestCodeNotSupported, request.opaque);
    answer.remark = " request type " + std::to_string(request.code) + " not supported";
    channel.reply(answer, request.serializeType);
}

void ClientInstance::forMember(Channel& channel, const protocol::CommandView& request) {
    const bool check = request.code == static_cast<std::int32_t>(RequestCode::CheckTransactionState);
    std::string group;
    if (check) {
        protocol::RecordView record;
        if (protocol::RecordView::parse(request.body, record, protocol::RecordCheck::Layout) != protocol::RecordStatus::Message) return;
        group = protocol::findProperty(record.properties, protocol::kPropertyProducerGroup);
    } else {
        group = request.find("consumerGroup").value_or(request.find("group").value_or(""));
    }
    if (auto* member = find(!check, group)) return member->serverRequest(channel, RemotingCommand::from(request), request.serializeType);
    const auto code = static_cast<RequestCode>(request.code);
    if (check || code == RequestCode::ResetConsumerClientOffset || request.isOneway()) return;
    auto answer = RemotingCommand::response(ResponseCode::SystemError, request.opaque);
    answer.remark = "The Consumer Group <" + group + "> not exist in this consumer";
    channel.reply(answer, request.serializeType);
}

void ClientInstance::reply(Channel& channel, const protocol::CommandView& request) {
    const auto id = protocol::findProperty(request.find("properties").value_or(""), protocol::kPropertyCorrelationId);
    bool good = true;
    // An unknown id is a reply that came too late: the replier is not to blame.
    if (auto waiting = replies_.extract(std::string(id)); !waiting.empty()) good = waiting.mapped()(RemotingCommand::from(request));
    auto answer = RemotingCommand::response(good ? ResponseCode::Success : ResponseCode::SystemError, request.opaque);
    if (!good) answer.remark = "process reply message fail";
    channel.reply(answer, request.serializeType);
}

}  // namespace patchbay::client
