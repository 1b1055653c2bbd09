#include "Registrar.h"

#include "TopicChunks.h"

#include "patchbay/protocol/PrivateCode.h"
#include "patchbay/protocol/headers/NameServer.h"
#include "patchbay/protocol/message/Names.h"
#include "patchbay/protocol/route/AdminBodies.h"
#include "patchbay/protocol/route/RegisterBroker.h"
#include "patchbay/protocol/util/Crc32.h"

#include <algorithm>

namespace patchbay::plugins::registration {

using protocol::RemotingCommand;
using protocol::RequestCode;
using protocol::ResponseCode;
using Work = NameServer::Work;

namespace {

constexpr std::chrono::milliseconds kQueryTimeout{3'000};
constexpr std::chrono::milliseconds kReachTimeout{5'000};
// By then this broker's port is open.
constexpr std::chrono::milliseconds kReachAfter{1'000};
constexpr std::uint32_t kReadWrite = protocol::kPermRead | protocol::kPermWrite;

std::vector<NameServer> parseAddresses(std::string_view list) {
    std::vector<NameServer> servers;
    while (!list.empty()) {
        const auto end = list.find(';');
        std::string_view one = list.substr(0, end);
        list = end == std::string_view::npos ? std::string_view() : list.substr(end + 1);
        const auto first = one.find_first_not_of(" \t");
        if (first == std::string_view::npos) continue;
        one = one.substr(first, one.find_last_not_of(" \t") - first + 1);
        const bool known = std::ranges::any_of(servers, [&](const NameServer& s) { return s.address() == one; });
        if (!known) servers.emplace_back(std::string(one));
    }
    return servers;
}

/// Why an answer is not a success; empty when it is.
std::string refusal(const Result<RemotingCommand>& answer) {
    if (!answer) return answer.error().toString();
    if (answer->code == static_cast<std::int32_t>(ResponseCode::Success)) return {};
    return "code " + std::to_string(answer->code) + ": " + answer->remark.value_or("");
}

}  // namespace

class Registrar::Running {
public:
    explicit Running(Registrar& owner) : owner_(owner) {
        const std::lock_guard guard(owner_.mutex_);
        entered_ = !owner_.closed_;
        if (entered_) ++owner_.running_;
    }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;
    ~Running() {
        if (!entered_) return;
        const std::lock_guard guard(owner_.mutex_);
        --owner_.running_;
        owner_.changed_.notify_all();
    }
    explicit operator bool() const noexcept { return entered_; }

private:
    Registrar& owner_;
    bool entered_;
};

Registrar::Registrar(plugin::PluginContext& context, plugin::ServiceRef<service::TopicConfigs> topics,
                     const RegistrationConfig& config)
    : context_(context), address_(context.identity().address()), topics_(std::move(topics)),
      servers_(parseAddresses(context.identity().namesrvAddr)), config_(config) {}

void Registrar::start() {
    if (servers_.empty()) {
        context_.log().info("no name server is configured, this broker is not registered anywhere");
        return;
    }
    topics_->addListener(*this);
    schedulePeriod();
    postWork();
}

void Registrar::reconfigure(const RegistrationConfig& config) {
    bool reschedule = false;
    bool tellAgain = false;
    {
        const std::lock_guard guard(mutex_);
        reschedule = config.period != config_.period && !servers_.empty();
        tellAgain = config.permission != config_.permission;
        config_ = config;
    }
    if (reschedule) schedulePeriod();
    if (tellAgain) registerSoon();
}

void Registrar::schedulePeriod() {
    context_.timers().cancel(periodTimer_);
    periodTimer_ = context_.timers().every(config_.period, config_.period,
                                           [self = Ref<Registrar>::share(this)] { self->onPeriod(); });
}

void Registrar::onPeriod() {
    const Running running(*this);
    if (!running) return;
    {
        const std::lock_guard guard(mutex_);
        for (NameServer& server : servers_) {
            if (config_.force) {
                server.wantAll(false);
            } else {
                server.wantQuery();
            }
        }
    }
    work();
}

void Registrar::registerSoon() noexcept {
    {
        const std::lock_guard guard(mutex_);
        for (NameServer& server : servers_) server.wantAll(true);
    }
    postWork();
}

void Registrar::topicChanged(std::string_view topic, const protocol::TopicConfig* config) noexcept {
    // A deletion is not told: the tool that asks for it tells the name servers itself, by a code of its own.
    if (config == nullptr) return;
    {
        const std::lock_guard guard(mutex_);
        for (NameServer& server : servers_) server.topicChanged(topic);
    }
    postWork();
}

void Registrar::postWork() {
    {
        const std::lock_guard guard(mutex_);
        if (workPosted_ || leaving_ || closed_ || servers_.empty()) return;
        workPosted_ = true;
    }
    context_.timers().post([self = Ref<Registrar>::share(this)] { self->work(); });
}

void Registrar::work() {
    const Running running(*this);
    if (!running) return;
    {
        const std::lock_guard guard(mutex_);
        workPosted_ = false;
    }
    for (NameServer& server : servers_) proceed(server);
}

void Registrar::proceed(NameServer& server) {
    Work work = Work::None;
    {
        const std::lock_guard guard(mutex_);
        if (leaving_ || closed_) return;
        const MonotonicTime now = context_.clock().now();
        work = server.next(now);
        if (work == Work::None) {
            if (server.busy() || workPosted_) return;
            if (const auto left = server.gapLeft(now)) {
                workPosted_ = true;
                context_.timers().after(*left, [self = Ref<Registrar>::share(this)] { self->work(); });
            }
            return;
        }
        server.begin(work, now);
    }
    if (work == Work::Query) {
        query(server);
    } else {
        tell(server, work);
    }
}

void Registrar::tell(NameServer& server, Work work) {
    // The version is read before the topics: one that is too old is put right by the change that comes after it, one that is
    // too new would hide that change from the name server.
    const protocol::DataVersion current = topics_->dataVersion();
    std::set<std::string, std::less<>> names;
    std::uint32_t permission = kReadWrite;
    std::size_t topicsMax = 0;
    {
        const std::lock_guard guard(mutex_);
        if (work == Work::Changes) names = server.takeChanges();
        permission = config_.permission;
        topicsMax = config_.topicsMax;
    }
    std::deque<protocol::TopicConfigTable> chunks;
    if (work != Work::Rest) {
        std::vector<protocol::TopicConfig> topics;
        if (work == Work::All) {
            topics = topics_->all();
        } else {
            for (const std::string& name : names) {
                if (auto topic = topics_->get(name)) topics.push_back(std::move(*topic));
            }
        }
        for (auto& topic : topics) {
            if ((permission & kReadWrite) != kReadWrite) topic.perm &= permission;
        }
        chunks = splitTopics(std::move(topics), topicsMax);
        // A name server refuses one single topic from a broker it does not know, but not none.
        if (work == Work::All && chunks.front().size() == 1) chunks.emplace_front();
    }

    protocol::TopicConfigTable chunk;
    protocol::DataVersion version;
    bool compressed = false;
    std::chrono::milliseconds timeout{};
    bool leave = false;
    {
        const std::lock_guard guard(mutex_);
        if (work != Work::Rest) server.setChunks(std::move(chunks));
        leave = leaving_;
        chunk = server.takeChunk();
        version = server.versionToTell(current, bumps_);
        compressed = config_.compressed;
        timeout = config_.timeout;
    }
    if (leave) return sendLeave(server);
    send(server, registration(std::move(chunk), version, compressed), timeout, &Registrar::answered);
}

RemotingCommand Registrar::registration(protocol::TopicConfigTable topics, const protocol::DataVersion& version,
                                        bool compressed) const {
    const auto& identity = context_.identity();
    protocol::RegisterBrokerBody body;
    body.topicConfigSerializeWrapper.dataVersion = version;
    body.topicConfigSerializeWrapper.topicConfigTable = std::move(topics);
    auto command = RemotingCommand::request(RequestCode::RegisterBroker);
    if (compressed) {
        auto packed = body.toCompressed(protocol::kVersion);
        compressed = packed.has_value();
        if (packed) command.body = std::move(*packed);
    }
    if (!compressed) command.body = body.toJson();
    protocol::RegisterBrokerRequest header;
    header.brokerName = identity.brokerName;
    header.brokerAddr = address_;
    header.clusterName = identity.clusterName;
    header.haServerAddr = identity.haServerAddr;
    header.brokerId = identity.brokerId;
    header.enableActingMaster = false;
    header.compressed = compressed;
    header.bodyCrc32 = protocol::maskedCrc32(command.body);
    command.setHeader(header);
    return command;
}

void Registrar::query(NameServer& server) {
    const auto& identity = context_.identity();
    protocol::DataVersion version = topics_->dataVersion();
    {
        const std::lock_guard guard(mutex_);
        version.counter += bumps_;
    }
    auto command = RemotingCommand::request(RequestCode::QueryDataVersion);
    protocol::QueryDataVersionRequest header;
    header.brokerName = identity.brokerName;
    header.brokerAddr = address_;
    header.clusterName = identity.clusterName;
    header.brokerId = identity.brokerId;
    command.setHeader(header);
    command.body = version.toJson();
    send(server, std::move(command), kQueryTimeout, &Registrar::queryAnswered);
}

void Registrar::send(NameServer& server, RemotingCommand command, std::chrono::milliseconds timeout,
                     void (Registrar::*done)(NameServer&, const Result<RemotingCommand>&)) {
    context_.remoting().invoke(server.address(), std::move(command), timeout,
                               [self = Ref<Registrar>::share(this), &server, done](Result<RemotingCommand> answer) {
                                   const Running running(*self);
                                   if (running) ((*self).*done)(server, answer);
                               });
}

void Registrar::queryAnswered(NameServer& server, const Result<RemotingCommand>& answer) {
    if (const std::string reason = refusal(answer); !reason.empty()) return failed(server, reason);
    bool leave = false;
    {
        const std::lock_guard guard(mutex_);
        server.succeeded();
        if (answer->find("changed") != "false") server.wantAll(false);
        leave = leaving_;
    }
    leave ? sendLeave(server) : proceed(server);
}

void Registrar::answered(NameServer& server, const Result<RemotingCommand>& answer) {
    if (const std::string reason = refusal(answer); !reason.empty()) return failed(server, reason);
    succeeded(server, *answer);
}

void Registrar::succeeded(NameServer& server, const RemotingCommand& answer) {
    bool leave = false;
    auto turn = NameServer::Turn::Same;
    {
        const std::lock_guard guard(mutex_);
        turn = server.succeeded();
        leave = leaving_;
    }
    if (turn == NameServer::Turn::Up) {
        context_.log().info("registered with name server",
                            {{"nameServer", server.address()}, {"master", answer.find("masterAddr").value_or("")},
                             {"haServer", answer.find("haServerAddr").value_or("")}});
        context_.timers().after(kReachAfter, [self = Ref<Registrar>::share(this), &server] { self->askWhetherReached(server); });
    }
    if (leave) return sendLeave(server);
    if (!answer.body.empty()) applyOrderConfig(server, answer.body);
    proceed(server);
}

void Registrar::askWhetherReached(NameServer& server) {
    const Running running(*this);
    if (!running) return;
    {
        const std::lock_guard guard(mutex_);
        if (leaving_) return;
    }
    auto command = RemotingCommand::request(static_cast<RequestCode>(protocol::PrivateCode::ReachBroker));
    command.set("address", address_);
    send(server, std::move(command), kReachTimeout, &Registrar::reachAnswered);
}

void Registrar::reachAnswered(NameServer& server, const Result<RemotingCommand>& answer) {
    if (!answer || answer->code != static_cast<std::int32_t>(ResponseCode::Success)) return;
    const auto reached = answer->find("reached");
    if (reached == "true") {
        context_.log().info("the address that clients are told answers, seen from the name server", {{"address", address_}, {"nameServer", server.address()}});
        return;
    }
    if (reached != "false") return;
    context_.log().warn("the address that clients are told does not answer, seen from the name server; set brokerIP1 to one that clients reach",
                        {{"address", address_}, {"nameServer", server.address()}, {"error", answer->find("error").value_or("")}});
}

void Registrar::failed(NameServer& server, const std::string& reason) {
    bool leave = false;
    auto turn = NameServer::Turn::Same;
    std::chrono::milliseconds delay{};
    {
        const std::lock_guard guard(mutex_);
        turn = server.failed();
        delay = server.retryDelay();
        leave = leaving_;
    }
    if (leave) return sendLeave(server);
    if (turn == NameServer::Turn::Down) {
        context_.log().warn("cannot register with name server, trying again",
                            {{"nameServer", server.address()}, {"reason", reason}});
    }
    context_.timers().after(delay, [self = Ref<Registrar>::share(this), &server] {
        const Running running(*self);
        if (!running) return;
        {
            const std::lock_guard guard(self->mutex_);
            server.retryNow();
        }
        self->proceed(server);
    });
}

void Registrar::applyOrderConfig(const NameServer& server, std::string_view body) {
    auto ordered = protocol::KvTable::fromJson(body);
    if (!ordered) {
        context_.log().limited(plugin::LogLevel::Warn, "the name server's order configuration is not readable",
                               {{"nameServer", server.address()}, {"reason", ordered.error().message()}});
        return;
    }
    for (const auto& [name, queues] : ordered->table) {
        auto topic = topics_->get(name);
        if (!topic || topic->order) continue;
        topic->order = true;
        if (const Status put = topics_->put(*topic); !put) {
            context_.log().limited(plugin::LogLevel::Warn, "cannot mark a topic as ordered",
                                   {{"topic", name}, {"reason", put.message()}});
        }
    }
}

bool Registrar::leave() {
    std::vector<NameServer*> now;
    {
        const std::lock_guard guard(mutex_);
        if (std::exchange(leaving_, true)) return false;
        for (NameServer& server : servers_) {
            if (server.busy()) continue;  // its answer is waited for, so that the departure cannot overtake the registration
            if (server.mayKnowUs()) {
                now.push_back(&server);
            } else {
                server.setLeft();
            }
        }
    }
    for (NameServer* server : now) sendLeave(*server);
    return true;
}

void Registrar::sendLeave(NameServer& server) {
    const auto& identity = context_.identity();
    std::chrono::milliseconds timeout{};
    {
        const std::lock_guard guard(mutex_);
        if (server.leaving()) return;
        server.beginLeaving();
        timeout = std::max(config_.unregisterTimeout, std::chrono::milliseconds(1));
    }
    auto command = RemotingCommand::request(RequestCode::UnregisterBroker);
    protocol::UnregisterBrokerRequest header;
    header.brokerName = identity.brokerName;
    header.brokerAddr = address_;
    header.clusterName = identity.clusterName;
    header.brokerId = identity.brokerId;
    command.setHeader(header);
    send(server, std::move(command), timeout, &Registrar::leaveAnswered);
}

void Registrar::leaveAnswered(NameServer& server, const Result<RemotingCommand>&) {
    const std::lock_guard guard(mutex_);
    server.setLeft();
    changed_.notify_all();
}

void Registrar::awaitLeft() {
    std::vector<NameServer*> late;
    {
        std::unique_lock guard(mutex_);
        (void)context_.clock().waitFor(changed_, guard, config_.unregisterTimeout,
                                       [this] { return std::ranges::all_of(servers_, &NameServer::left); });
        for (NameServer& server : servers_) {
            if (!server.left() && !server.leaving() && server.mayKnowUs()) late.push_back(&server);
        }
    }
    // Their last registration is still unanswered; whatever becomes of it, this one is behind it on the connection.
    for (NameServer* server : late) sendLeave(*server);
}

void Registrar::unregister() noexcept {
    if (leave()) awaitLeft();
}

void Registrar::close() noexcept {
    if (topics_ && !servers_.empty()) topics_->removeListener(*this);
    std::unique_lock guard(mutex_);
    closed_ = true;
    changed_.wait(guard, [this] { return running_ == 0; });
    topics_.reset();
}

}  // namespace patchbay::plugins::registration
