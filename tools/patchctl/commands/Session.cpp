#include "commands/Session.h"

#include "patchbay/protocol/RequestCode.h"
#include "patchbay/protocol/ResponseCode.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <ctime>

namespace patchbay::patchctl {

using protocol::ResponseCode;

namespace {

StatusCode kindOf(std::int32_t code) noexcept {
    switch (static_cast<ResponseCode>(code)) {
        case ResponseCode::TopicNotExist:
        case ResponseCode::SubscriptionGroupNotExist:
        case ResponseCode::QueryNotFound:
        case ResponseCode::ConsumerNotOnline: return StatusCode::NotFound;
        case ResponseCode::RequestCodeNotSupported: return StatusCode::Unsupported;
        case ResponseCode::NoPermission: return StatusCode::Denied;
        case ResponseCode::SystemBusy: return StatusCode::Busy;
        case ResponseCode::InvalidParameter: return StatusCode::InvalidArgument;
        default: return StatusCode::Internal;
    }
}

/// A broker that was named by an address has a name all the same, unless the name servers do not know it there.
std::string nameAt(const protocol::ClusterInfo& info, const std::string& address) {
    for (const auto& [name, broker] : info.brokerAddrTable) {
        for (const auto& [id, known] : broker.brokerAddrs) {
            if (known == address) return name;
        }
    }
    return address;
}

}  // namespace

Exit exitOf(const Status& status) noexcept {
    switch (status.code()) {
        case StatusCode::Ok: return Exit::Done;
        case StatusCode::NotFound: return Exit::NotFound;
        case StatusCode::Unavailable:
        case StatusCode::DeadlineExceeded: return Exit::NoAnswer;
        default: return Exit::Failed;
    }
}

Exit Session::fail(const Status& status) {
    output_.error(status);
    return exitOf(status);
}

Exit Session::misused(const Status& status) {
    output_.error(status);
    return Exit::Usage;
}

bool Session::isSilent(const Target& broker, const Status& status) {
    if (exitOf(status) != Exit::NoAnswer) return false;
    output_.warn(broker.name + " at " + broker.address + " does not answer: " + status.message());
    return true;
}

Result<client::AdminClient*> Session::client() {
    if (client_) return &*client_;
    client::ClientOptions options;
    options.nameServers = arguments_.text("namesrv");
    options.requestTimeout = timeout();
    options.log = [](client::LogLevel, std::string_view) {};   // what goes wrong is told by the command
    auto created = client::AdminClient::create(std::move(options));
    if (!created) return created.error();
    client_.emplace(std::move(*created));
    return &*client_;
}

Result<std::vector<Target>> Session::targets(bool slaves) {
    const std::string wanted = arguments_.text("broker");
    const std::string cluster = arguments_.text("cluster");
    auto client = this->client();
    if (!client) return client.error();
    if (wanted.find(':') != std::string::npos) return std::vector<Target>{{"", wanted, wanted, 0}};
    const auto info = (*client)->cluster();
    if (!info) return info.error();
    std::vector<Target> found;
    for (const auto& [name, broker] : info->brokerAddrTable) {
        if ((!wanted.empty() && name != wanted) || (!cluster.empty() && broker.cluster != cluster)) continue;
        for (const auto& [id, address] : broker.brokerAddrs) {
            if (slaves || id == protocol::kMasterId) found.push_back({broker.cluster, name, address, id});
        }
    }
    if (found.empty()) {
        std::string what = "the name server knows no broker";
        if (!wanted.empty()) what += " '" + wanted + "'";
        if (!cluster.empty()) what += " of cluster '" + cluster + "'";
        return Status(StatusCode::NotFound, what);
    }
    return found;
}

Result<std::vector<Target>> Session::masters() { return targets(false); }
Result<std::vector<Target>> Session::brokers() { return targets(true); }

Result<Target> Session::broker() {
    auto found = masters();
    if (!found) return found.error();
    if (found->size() > 1) {
        std::string names;
        for (const auto& target : *found) names += (names.empty() ? "" : ", ") + target.name;
        return Status(StatusCode::InvalidArgument, "there are several brokers (" + names + "); choose one with --broker");
    }
    return found->front();
}

Result<protocol::RemotingCommand> Session::ask(const std::string& address, std::int32_t code,
                                               std::vector<std::pair<std::string, std::string>> fields, std::string body) {
    auto client = this->client();
    if (!client) return client.error();
    auto command = protocol::RemotingCommand::request(static_cast<protocol::RequestCode>(code));
    command.hasFields = !fields.empty();
    command.fields = std::move(fields);
    command.body = std::move(body);
    auto answer = (*client)->invoke(address, std::move(command), timeout());
    if (!answer) return answer.error();
    if (answer->code == static_cast<std::int32_t>(ResponseCode::Success)) return answer;
    return Status(kindOf(answer->code), address + " answers " + std::to_string(answer->code) + ": " + answer->remark.value_or("(no text)"));
}

Result<std::set<std::string>> Session::chosen() {
    std::set<std::string> names;
    if (!limited()) return names;
    const auto found = masters();
    if (!found) return found.error();
    for (const auto& target : *found) {
        if (target.name != target.address) {
            names.insert(target.name);
            continue;
        }
        const auto info = client_->cluster();
        if (!info) return info.error();
        auto name = nameAt(*info, target.address);
        if (name == target.address) {
            // A port that no name server tells of, as that for administration alone; the broker knows its own name.
            auto config = client_->brokerConfig(target.address);
            if (!config) return config.error();
            const auto at = config->find("brokerName");
            if (at != config->end()) name = at->second;
        }
        names.insert(std::move(name));
    }
    return names;
}

Result<protocol::TopicStatsTable> Session::topicStats(const std::string& topic) {
    auto client = this->client();
    if (!client) return client.error();
    if (!limited()) return (*client)->topicStats(topic);
    const auto targets = masters();
    if (!targets) return targets.error();
    protocol::TopicStatsTable all;
    bool known = false;
    for (const auto& target : *targets) {
        const auto one = (*client)->topicStats(target.address, topic);
        if (!one && one.error().code() == StatusCode::NotFound) continue;
        if (!one) return one.error();
        known = true;
        all.offsetTable.insert(one->offsetTable.begin(), one->offsetTable.end());
        all.topicPutTps += one->topicPutTps;
    }
    if (!known) return Status(StatusCode::NotFound, "no broker that was chosen has topic '" + topic + "'");
    return all;
}

Result<std::set<std::string>> Session::groupsOf(const std::string& topic) {
    auto client = this->client();
    if (!client) return client.error();
    std::set<std::string> all;
    if (!limited()) {
        const auto found = (*client)->groupsOf(topic);
        if (!found) return found.error();
        all.insert(found->begin(), found->end());
        return all;
    }
    const auto targets = masters();
    if (!targets) return targets.error();
    for (const auto& target : *targets) {
        const auto answer = ask(target.address, static_cast<std::int32_t>(protocol::RequestCode::QueryTopicConsumeByWho), {{"topic", topic}});
        if (!answer && answer.error().code() == StatusCode::NotFound) continue;
        if (!answer) return answer.error();
        const auto one = protocol::GroupList::fromJson(answer->body);
        if (!one) return one.error();
        all.insert(one->groupList.begin(), one->groupList.end());
    }
    return all;
}

Result<protocol::ConsumeStats> Session::consumeStats(const std::string& group, const std::string& topic) {
    auto brokers = masters();
    if (!brokers) return brokers.error();
    protocol::ConsumeStats all;
    for (const auto& broker : *brokers) {
        const auto stats = client_->consumeStats(broker.address, group, topic);
        if (!stats) return stats.error();
        all.offsetTable.insert(stats->offsetTable.begin(), stats->offsetTable.end());
        all.consumeTps += stats->consumeTps;
    }
    if (all.offsetTable.empty()) return Status(StatusCode::NotFound, "group '" + group + "' has no offsets there");
    return all;
}

std::string counted(std::int64_t number, std::string_view noun) {
    return std::to_string(number) + " " + std::string(noun) + (number == 1 ? "" : "s");
}

void Outcomes::add(const Target& target, const Status& status, std::string note) { rows_.push_back({target, status, std::move(note)}); }

Exit Outcomes::print(std::string_view done) {
    Table table{{{"broker", "BROKER"}, {"address", "ADDRESS"}, {"ok", "OK"}, {"outcome", "OUTCOME"}}, {}};
    std::size_t failed = 0;
    Status last;
    for (const auto& [target, status, note] : rows_) {
        table.add({target.name, target.address, status.isOk(), status.isOk() ? std::string(done) + note : status.message()});
        if (status.isOk()) continue;
        ++failed;
        last = status;
    }
    session_.out().print(table);
    if (failed == 0) return Exit::Done;
    return failed < rows_.size() ? Exit::Partly : exitOf(last);
}

namespace {

/// Cuts ".5", ".51" or ".515" off "… 17:00:00.515", as times are printed, and tells the ms; -1 when there is something else behind the dot.
std::int64_t takeFraction(std::string& time) {
    static constexpr std::size_t kDot = std::string_view("2026-11-29 17:00:00").size();
    if (time.size() <= kDot || time[kDot] != '.') return 0;
    std::string digits = time.substr(kDot + 1);
    const bool valid = !digits.empty() && digits.size() <= 3 && std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; });
    if (!valid) return -1;
    digits.resize(3, '0');
    time.resize(kDot);
    return std::atoll(digits.c_str());
}

}  // namespace

Result<std::int64_t> parseTime(std::string_view text, std::int64_t nowMs) {
    const Status wrong(StatusCode::InvalidArgument, "'" + std::string(text) +
                       "' is no time; like \"2026-11-29 17:00:00\" (local), -10m, now, or milliseconds since the epoch");
    if (text == "now") return nowMs;
    const bool before = text.starts_with('-');
    const std::string_view digits = text.substr(before ? 1 : 0);
    std::int64_t number = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    const std::string_view rest(read.ptr, static_cast<std::size_t>(digits.data() + digits.size() - read.ptr));
    if (read.ec == std::errc{} && !before && rest.empty()) return number;
    if (read.ec == std::errc{} && before) {
        static constexpr std::pair<std::string_view, std::int64_t> kUnits[] = {
            {"s", 1'000}, {"m", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}};
        const auto unit = std::ranges::find(kUnits, rest, &std::pair<std::string_view, std::int64_t>::first);
        if (unit == std::end(kUnits) || number > nowMs / unit->second) return wrong;
        return nowMs - number * unit->second;
    }
    std::string whole(text);
    std::ranges::replace(whole, 'T', ' ');
    const std::int64_t fraction = takeFraction(whole);
    if (fraction < 0) return wrong;
    for (const char* format : {"%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d"}) {
        std::tm local{};
        local.tm_isdst = -1;
        const char* end = strptime(whole.c_str(), format, &local);
        if (end == nullptr || *end != '\0') continue;
        // A day that the month does not have would become one of the next month.
        const int day = local.tm_mday;
        const std::time_t seconds = std::mktime(&local);
        return local.tm_mday == day ? Result<std::int64_t>(static_cast<std::int64_t>(seconds) * 1000 + fraction) : wrong;
    }
    return wrong;
}

}  // namespace patchbay::patchctl
