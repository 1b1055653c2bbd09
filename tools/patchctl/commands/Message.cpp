// The commands "message …".
#include "commands/Session.h"

#include "commands/Sender.h"
#include "output/Text.h"

#include "patchbay/protocol/json/Writer.h"
#include "patchbay/protocol/message/MessageId.h"
#include "patchbay/protocol/message/Names.h"
#include "patchbay/protocol/message/PropertyNames.h"

#include <algorithm>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <thread>

namespace patchbay::patchctl {

namespace {

using client::MessageQueue;
using client::ReceivedMessage;

constexpr std::int32_t kBatch = 32;
constexpr std::chrono::milliseconds kTailPause{500};
constexpr std::string_view kRetryTopicProperty = "RETRY_TOPIC";

constexpr Argument kTopic[] = {{"TOPIC", "name of the topic"}};
constexpr Argument kGet[] = {{"TOPIC", "name of the topic"}, {"ID", "id of the producer or of the broker", true}};
constexpr Argument kGroup[] = {{"GROUP", "consumer group whose dead letters are sent again"}};

constexpr Option kSend[] = {
    {.name = "body", .kind = Kind::Text, .value = "TEXT", .doc = "what is sent", .letter = 'd'},
    {.name = "file", .kind = Kind::Text, .value = "FILE", .doc = "sends what the file holds; - is standard input", .letter = 'f'},
    {.name = "tags", .kind = Kind::Text, .value = "TAG", .doc = "by which consumers choose", .letter = 't'},
    {.name = "keys", .kind = Kind::Text, .value = "KEYS", .doc = "by which it is found again, separated by blanks", .letter = 'k'},
    {.name = "property", .kind = Kind::Text, .value = "NAME=VALUE", .doc = "may be given several times", .letter = 'P'},
    {.name = "delay-level", .kind = Kind::Number, .value = "N", .doc = "waits first: 1 is 1 s, 2 is 5 s, 3 is 10 s, and so on", .min = 1, .max = 100},
    {.name = "queue", .kind = Kind::Number, .value = "N", .doc = "to this queue; without it queues take turns", .letter = 'q', .min = 0, .max = 65'536},
    {.name = "count", .kind = Kind::Number, .value = "N", .doc = "sends it so often", .fallback = "1", .min = 1, .max = 10'000'000},
};
constexpr Option kGetOptions[] = {
    {.name = "key", .kind = Kind::Text, .value = "KEY", .doc = "messages with this key", .letter = 'k'},
    {.name = "begin", .kind = Kind::Text, .value = "TIME", .doc = "stored from then on; times are local", .fallback = "-1d"},
    {.name = "end", .kind = Kind::Text, .value = "TIME", .doc = "stored until then", .fallback = "now"},
    {.name = "max", .kind = Kind::Number, .value = "N", .doc = "not more than so many", .fallback = "32", .min = 1, .max = 10'000},
};
constexpr Option kTail[] = {
    {.name = "follow", .doc = "goes on with messages as they come, until Ctrl-C", .letter = 'f'},
    {.name = "lines", .kind = Kind::Number, .value = "N", .doc = "begins so many messages before the end of each queue", .fallback = "10", .letter = 'l', .min = 0, .max = 1'000'000},
    {.name = "tags", .kind = Kind::Text, .value = "TAG", .doc = "only messages with this tag", .letter = 't'},
    {.name = "key", .kind = Kind::Text, .value = "KEY", .doc = "only messages with this key", .letter = 'k'},
    {.name = "grep", .kind = Kind::Text, .value = "TEXT", .doc = "only messages whose body holds this text", .letter = 'g'},
    {.name = "property", .kind = Kind::Text, .value = "NAME=VALUE", .doc = "only messages with this property", .letter = 'P'},
    {.name = "count", .kind = Kind::Number, .value = "N", .doc = "ends after so many messages; 0 goes on", .fallback = "0", .min = 0},
};
constexpr Option kReplay[] = {
    {.name = "to", .kind = Kind::Text, .value = "TOPIC", .doc = "sends them there; without it to the topic that each came from", .letter = 't'},
    {.name = "begin", .kind = Kind::Text, .value = "TIME", .doc = "only those that died from then on"},
    {.name = "max", .kind = Kind::Number, .value = "N", .doc = "not more than so many; 0 is all", .fallback = "0", .min = 0},
};

std::int64_t ms(std::chrono::system_clock::time_point at) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(at.time_since_epoch()).count();
}

/// For the eye: bodies are bytes, and what would steer a terminal is replaced.
std::string printable(std::string_view body) {
    std::string text(body);
    std::ranges::replace_if(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n'; }, '?');
    return text;
}

void print(Session& session, const ReceivedMessage& message) {
    Output& out = session.out();
    if (!out.json()) {
        out.say(timeText(ms(message.storedAt())) + "  " + (message.brokerName().empty() ? message.storeHost().toString() : std::string(message.brokerName())) + "/" + std::to_string(message.queueId()) + "@" +
                std::to_string(message.queueOffset()) + "  " + std::string(message.id()) +
                (message.tags().empty() ? "" : "  tags " + std::string(message.tags())) +
                (message.keys().empty() ? "" : "  keys " + std::string(message.keys())));
        out.say("    " + printable(message.body()));
        return;
    }
    std::string text;
    json::Writer json(text);
    json.beginObject();
    json.member("topic", message.topic());
    json.member("id", message.id());
    json.member("offsetId", message.offsetId());
    json.member("broker", message.brokerName());
    json.member("queue", message.queueId());
    json.member("offset", message.queueOffset());
    json.member("storedMs", ms(message.storedAt()));
    json.member("bornMs", ms(message.bornAt()));
    json.member("tags", message.tags());
    json.member("keys", message.keys());
    json.member("tries", message.reconsumeTimes());
    json.key("properties");
    json.beginObject();
    for (const auto& [name, value] : message.properties()) json.member(name, value);
    json.endObject();
    const std::string body = printable(message.body());
    json.member("body", body);
    if (body != message.body() || !isUtf8(body)) json.member("bodyBase64", base64(message.body()));
    json.endObject();
    out.print(text, {});
}

Result<std::string> bodyOf(Session& session, const Arguments& arguments) {
    if (!arguments.has("file")) {
        if (!arguments.has("body")) return Status(StatusCode::InvalidArgument, "nothing to send: give --body or --file");
        return arguments.text("body");
    }
    if (arguments.text("file") != "-") return session.files().readAll(arguments.text("file"));
    std::ostringstream text;
    text << std::cin.rdbuf();
    return std::move(text).str();
}

Exit send(Session& session, const Arguments& arguments) {
    const auto body = bodyOf(session, arguments);
    if (!body) return body.error().code() == StatusCode::InvalidArgument ? session.misused(body.error()) : session.fail(body.error());
    Outgoing message;
    message.body = *body;
    message.tags = arguments.text("tags");
    message.keys = arguments.text("keys");
    message.delayLevel = static_cast<std::int32_t>(arguments.number("delay-level"));
    if (arguments.has("queue")) message.queue = static_cast<std::int32_t>(arguments.number("queue"));
    for (const auto& property : arguments.all("property")) {
        const auto equals = property.find('=');
        if (equals == std::string::npos || equals == 0) {
            return session.misused({StatusCode::InvalidArgument, "--property: '" + property + "' is not NAME=VALUE"});
        }
        message.properties.emplace_back(property.substr(0, equals), property.substr(equals + 1));
    }
    auto sender = Sender::open(session, arguments.at(0));
    if (!sender) return session.fail(sender.error());
    Table table{{{"id", "ID"}, {"offsetId", "OFFSET ID"}, {"broker", "BROKER"}, {"queue", "QUEUE"}, {"offset", "OFFSET"}, {"status", "STATUS"}}, {}};
    const std::int64_t count = arguments.number("count");
    for (std::int64_t i = 0; i < count; ++i) {
        const auto sent = sender->send(message);
        if (!sent) return session.fail(sent.error());
        table.add({sent->id, sent->offsetId, sent->broker, std::int64_t{sent->queue}, sent->offset, sent->status});
        if (count > 100) session.out().progress("messages", i + 1, count);
    }
    session.out().print(table);
    return Exit::Done;
}

Exit printAll(Session& session, const Arguments& arguments, const std::vector<ReceivedMessage>& found, const std::string& what) {
    for (const auto& message : found) print(session, message);
    if (static_cast<std::int64_t>(found.size()) >= arguments.number("max")) {
        session.out().say("ended after " + counted(static_cast<std::int64_t>(found.size()), "message") + "; there may be more, and --max shows them");
    }
    return found.empty() ? session.fail({StatusCode::NotFound, what}) : Exit::Done;
}

/// Why a topic has nothing to show: that of dead letters comes into being with the first of them.
Status unknown(const std::string& topic, const Status& status) {
    if (status.code() != StatusCode::NotFound || !protocol::isDlqTopic(topic)) return status;
    return {StatusCode::NotFound, "group '" + topic.substr(protocol::kDlqTopicPrefix.size()) + "' has no dead letters"};
}

/// Messages stored between two times, queue after queue.
Exit byTime(Session& session, const Arguments& arguments, std::int64_t begin, std::int64_t end) {
    client::AdminClient& admin = **session.client();
    const auto stats = session.topicStats(arguments.at(0));
    if (!stats) return session.fail(unknown(arguments.at(0), stats.error()));
    std::vector<ReceivedMessage> found;
    const auto max = static_cast<std::size_t>(arguments.number("max"));
    for (const auto& [queue, entry] : stats->offsetTable) {
        auto at = admin.offsetAt(queue, begin);
        if (!at) return session.fail(at.error());
        for (std::int64_t offset = *at; offset < entry.maxOffset && found.size() < max;) {
            const auto batch = admin.messagesAt(queue, offset, kBatch);
            if (!batch) return session.fail(batch.error());
            if (batch->empty()) break;
            offset = batch->back().queueOffset() + 1;
            for (const auto& message : *batch) {
                if (ms(message.storedAt()) <= end && found.size() < max) found.push_back(message);
            }
            if (ms(batch->back().storedAt()) > end) break;
        }
    }
    std::ranges::sort(found, {}, [](const ReceivedMessage& message) { return message.storedAt(); });
    return printAll(session, arguments, found, "no message was stored there in that time");
}

Exit get(Session& session, const Arguments& arguments) {
    auto client = session.client();
    if (!client) return session.fail(client.error());
    const auto chosen = session.chosen();
    if (!chosen) return session.fail(chosen.error());
    const auto elsewhere = [&](const ReceivedMessage& message) { return !chosen->empty() && !chosen->contains(std::string(message.brokerName())); };
    if (!arguments.at(1).empty()) {
        const bool offsetId = protocol::MessageId::parse(arguments.at(1)).has_value();
        auto message = (*client)->messageById(arguments.at(0), arguments.at(1));
        if (!message && offsetId) message = (*client)->messageByOffsetId(arguments.at(0), arguments.at(1));
        if (!message) return session.fail(unknown(arguments.at(0), message.error()));
        if (elsewhere(*message)) return session.fail({StatusCode::NotFound, "that message is on " + std::string(message->brokerName())});
        print(session, *message);
        return Exit::Done;
    }
    const auto begin = parseTime(arguments.text("begin"), session.clock().wallMs());
    const auto end = parseTime(arguments.text("end"), session.clock().wallMs());
    if (!begin) return session.misused(begin.error());
    if (!end) return session.misused(end.error());
    if (!arguments.has("key")) return byTime(session, arguments, *begin, *end);
    auto found = (*client)->messagesByKey(arguments.at(0), arguments.text("key"), static_cast<std::int32_t>(arguments.number("max")), *begin, *end);
    if (!found) return session.fail(unknown(arguments.at(0), found.error()));
    std::erase_if(*found, elsewhere);
    return printAll(session, arguments, *found, "no message has the key '" + arguments.text("key") + "' in that time");
}

bool wanted(const Arguments& arguments, const ReceivedMessage& message) {
    if (arguments.has("tags") && message.tags() != arguments.text("tags")) return false;
    if (arguments.has("grep") && message.body().find(arguments.text("grep")) == std::string_view::npos) return false;
    if (arguments.has("key")) {
        const std::string padded = " " + std::string(message.keys()) + " ";
        if (padded.find(" " + arguments.text("key") + " ") == std::string::npos) return false;
    }
    return std::ranges::all_of(arguments.all("property"), [&](const std::string& property) {
        const auto equals = property.find('=');
        return message.property(property.substr(0, equals)) == property.substr(equals + 1);
    });
}

/// A broker that stops is gone from the routes, too, until it is there again.
bool mayComeBack(const Status& status) { return exitOf(status) == Exit::NoAnswer || status.code() == StatusCode::NotFound; }

Exit tail(Session& session, const Arguments& arguments) {
    auto client = session.client();
    if (!client) return session.fail(client.error());
    for (const auto& property : arguments.all("property")) {
        if (property.find('=') == std::string::npos) return session.misused({StatusCode::InvalidArgument, "--property: '" + property + "' is not NAME=VALUE"});
    }
    const auto stats = session.topicStats(arguments.at(0));
    if (!stats) return session.fail(unknown(arguments.at(0), stats.error()));
    std::map<MessageQueue, std::int64_t> at;
    for (const auto& [queue, entry] : stats->offsetTable) at[queue] = std::max(entry.minOffset, entry.maxOffset - arguments.number("lines"));
    const std::int64_t limit = arguments.number("count");
    std::int64_t shown = 0;
    std::set<std::string> silent;   // brokers that are being restarted, most likely; told once
    for (bool more = true; more;) {
        std::vector<ReceivedMessage> found;
        for (auto& [queue, offset] : at) {
            const auto batch = (*client)->messagesAt(queue, offset, kBatch);
            if (!batch && arguments.has("follow") && mayComeBack(batch.error())) {
                if (silent.insert(queue.brokerName).second) session.out().warn("waiting for " + queue.brokerName + ": " + batch.error().message());
                continue;
            }
            if (!batch) return session.fail(batch.error());
            if (silent.erase(queue.brokerName) > 0) session.out().warn(queue.brokerName + " answers again");
            if (batch->empty()) continue;
            offset = batch->back().queueOffset() + 1;
            found.insert(found.end(), batch->begin(), batch->end());
        }
        std::ranges::sort(found, {}, [](const ReceivedMessage& message) { return message.storedAt(); });
        for (const auto& message : found) {
            if (!wanted(arguments, message)) continue;
            print(session, message);
            if (limit > 0 && ++shown == limit) return Exit::Done;
        }
        session.out().flush();
        more = !found.empty() || arguments.has("follow");
        if (found.empty() && more) std::this_thread::sleep_for(kTailPause);
    }
    return Exit::Done;
}

/// A dead letter as it was when it was first sent: what the broker added for retries is left out.
Outgoing revived(const ReceivedMessage& message) {
    static constexpr std::string_view kOfRetries[] = {
        protocol::kPropertyRetryTopic, protocol::kPropertyDelayLevel, protocol::kPropertyRealTopic, protocol::kPropertyRealQueueId,
        protocol::kPropertyOriginMessageId, protocol::kPropertyReconsumeTime, protocol::kPropertyMaxReconsumeTimes,
        protocol::kPropertyDlqOriginTopic, protocol::kPropertyDlqOriginMessageId, protocol::kPropertyMinOffset, protocol::kPropertyMaxOffset,
        protocol::kPropertyUniqueKey, protocol::kPropertyTags, protocol::kPropertyKeys, protocol::kPropertyCluster,
        protocol::kPropertyMsgRegion, protocol::kPropertyTraceSwitch, protocol::kPropertyConsumeStartTime, protocol::kPropertyWaitStoreOk};
    Outgoing out;
    out.body = message.body();
    out.tags = message.tags();
    out.keys = message.keys();
    out.flag = message.flag();
    for (auto& [name, value] : message.properties()) {
        if (std::ranges::find(kOfRetries, name) == std::end(kOfRetries)) out.properties.emplace_back(name, value);
    }
    return out;
}

/// The topic that a dead letter is sent to.
std::string homeOf(const Arguments& arguments, const ReceivedMessage& message) {
    if (arguments.has("to")) return arguments.text("to");
    std::string topic(message.property(protocol::kPropertyDlqOriginTopic));
    return topic.empty() ? std::string(message.property(kRetryTopicProperty)) : topic;
}

Exit replay(Session& session, const Arguments& arguments) {
    auto client = session.client();
    if (!client) return session.fail(client.error());
    std::int64_t begin = 0;
    if (arguments.has("begin")) {
        const auto time = parseTime(arguments.text("begin"), session.clock().wallMs());
        if (!time) return session.misused(time.error());
        begin = *time;
    }
    const std::string deadLetters = protocol::dlqTopic(arguments.at(0));
    const auto stats = session.topicStats(deadLetters);
    if (!stats) return session.fail(unknown(deadLetters, stats.error()));
    std::int64_t all = 0;
    for (const auto& [queue, entry] : stats->offsetTable) all += entry.maxOffset - entry.minOffset;
    const std::int64_t limit = arguments.number("max") > 0 ? arguments.number("max") : all;
    std::map<std::string, Sender> senders;
    std::map<std::string, std::int64_t> sent;
    std::int64_t looked = 0;
    std::int64_t total = 0;
    const auto finish = [&](const Status& status) {
        Table table{{{"topic", "TOPIC"}, {"messages", "MESSAGES"}, {"sent", "SENT"}}, {}};
        for (const auto& [topic, number] : sent) table.add({topic, number, !arguments.dryRun()});
        session.out().print(table);
        return status ? Exit::Done : session.fail(status);
    };
    for (const auto& [queue, entry] : stats->offsetTable) {
        for (std::int64_t offset = entry.minOffset; offset < entry.maxOffset && total < limit;) {
            const auto batch = (*client)->messagesAt(queue, offset, kBatch);
            if (!batch) return finish(batch.error());
            if (batch->empty()) break;
            for (const auto& message : *batch) {
                offset = message.queueOffset() + 1;
                session.out().progress("dead letters", ++looked, all);
                if (ms(message.storedAt()) < begin || total == limit) continue;
                const std::string topic = homeOf(arguments, message);
                if (topic.empty()) return finish({StatusCode::InvalidArgument, std::string(message.id()) + " does not say where it came from; choose with --to"});
                auto sender = senders.find(topic);
                if (sender == senders.end()) {
                    auto opened = Sender::open(session, topic);
                    if (!opened) return finish(opened.error());
                    sender = senders.emplace(topic, std::move(*opened)).first;
                }
                if (!arguments.dryRun()) {
                    if (const auto done = sender->second.send(revived(message)); !done) return finish(done.error());
                }
                ++sent[topic];
                ++total;
            }
        }
    }
    return finish(Status::ok());
}

constexpr Command kCommands[] = {
    {.words = "message send", .summary = "Sends a message", .arguments = kTopic, .options = kSend,
     .example = "patchctl message send Orders --body '{\"id\":1}' --keys order-1", .run = send},
    {.words = "message get", .summary = "Shows messages, by id, by key or by time",
     .text = "With ID the one message. With --key those that have the key. With neither those that were stored between --begin and --end.",
     .arguments = kGet, .options = kGetOptions, .example = "patchctl message get Orders --key order-1", .run = get},
    {.words = "message tail", .summary = "Shows the last messages of a topic, and those that come",
     .text = "Moves no group's offsets.", .arguments = kTopic, .options = kTail, .example = "patchctl message tail Orders -f --tags paid", .run = tail},
    {.words = "message replay", .summary = "Sends the dead letters of a group again",
     .text = "Each goes to the topic that it came from, as a new message: every group of that topic will get it. The dead letters stay; a second "
             "replay sends them a second time.",
     .arguments = kGroup, .options = kReplay, .example = "patchctl message replay billing --dry-run", .destroys = true, .run = replay},
};

}  // namespace

std::span<const Command> messageCommands() noexcept { return kCommands; }

}  // namespace patchbay::patchctl
