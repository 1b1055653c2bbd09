#include "route/NameServers.h"

#include "patchbay/client/ClientOptions.h"

#include <Poco/Exception.h>
#include <Poco/Net/HTTPClientSession.h>
#include <Poco/Net/HTTPRequest.h>
#include <Poco/Net/HTTPResponse.h>
#include <Poco/StreamCopier.h>
#include <Poco/URI.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace patchbay::client {

namespace {

constexpr std::chrono::minutes kRefetch{2};
constexpr std::chrono::seconds kRefetchAfterFailure{10};
constexpr const char* kNoList =
    "no name server is known; set ClientOptions::nameServers to \"host:9876\", or the environment variable NAMESRV_ADDR";

}  // namespace

std::vector<std::string> splitAddresses(std::string_view text) {
    std::vector<std::string> list;
    std::string part;
    const auto flush = [&] {
        if (!part.empty()) list.push_back(std::exchange(part, {}));
    };
    for (const char c : text) {
        if (c == ';' || c == ',') flush();
        else if (static_cast<unsigned char>(c) > ' ') part += c;
    }
    flush();
    return list;
}

Result<std::string> fetchText(const std::string& url) {
    try {
        const Poco::URI uri(url);
        Poco::Net::HTTPClientSession session(uri.getHost(), uri.getPort());
        session.setTimeout(Poco::Timespan(3, 0));
        Poco::Net::HTTPRequest request(Poco::Net::HTTPRequest::HTTP_GET, uri.getPathAndQuery().empty() ? "/" : uri.getPathAndQuery());
        session.sendRequest(request);
        Poco::Net::HTTPResponse response;
        auto& body = session.receiveResponse(response);
        if (response.getStatus() != Poco::Net::HTTPResponse::HTTP_OK) {
            return Status(StatusCode::Unavailable, url + " answered HTTP " + std::to_string(response.getStatus()));
        }
        std::string text;
        Poco::StreamCopier::copyToString(body, text);
        return text;
    } catch (const Poco::Exception& failure) {
        return Status(StatusCode::Unavailable, url + ": " + failure.displayText());
    }
}

struct NameServers::Question {
    protocol::RemotingCommand command;
    MonotonicTime deadline;
    AnswerDone done;
    std::size_t left = 0;  // servers that may still be tried
};

NameServers::NameServers(Asker& asker, const ClientOptions& options, std::size_t firstIndex)
    : asker_(asker), url_(options.nameServerUrl), list_(splitAddresses(options.nameServers)), current_(firstIndex),
      refetch_(asker.runtime().loop()), alive_(std::make_shared<NameServers*>(this)) {
    if (list_.empty()) {
        const char* environment = std::getenv("NAMESRV_ADDR");
        if (environment != nullptr) list_ = splitAddresses(environment);
    }
    if (list_.empty() && !url_.empty()) fetch();
}

NameServers::~NameServers() {
    *alive_ = nullptr;
    for (const auto& question : std::exchange(waiting_, {})) question->done(Status(StatusCode::Cancelled, "the client was closed"));
}

bool NameServers::contains(std::string_view address) const noexcept {
    return std::find(list_.begin(), list_.end(), address) != list_.end();
}

void NameServers::ask(protocol::RemotingCommand command, MonotonicTime deadline, AnswerDone done) {
    auto question = std::make_shared<Question>(Question{std::move(command), deadline, std::move(done), list_.size()});
    if (!list_.empty()) return attempt(question);
    if (!fetching_) return question->done(Status(StatusCode::Unavailable, kNoList));
    waiting_.push_back(std::move(question));
}

void NameServers::attempt(const std::shared_ptr<Question>& question) {
    const auto now = asker_.runtime().clock().now();
    const auto index = current_ % list_.size();
    const auto share = (question->deadline - now) / static_cast<std::int64_t>(std::max<std::size_t>(question->left, 1));
    asker_.ask(list_[index], question->command, now + share, [this, question, index](Result<protocol::RemotingCommand> answer) {
        if (answer || question->left <= 1 || list_.empty()) return question->done(std::move(answer));
        if (answer.error().code() == StatusCode::Cancelled) return question->done(std::move(answer));
        --question->left;
        if (current_ % list_.size() == index) ++current_;
        attempt(question);
    });
}

void NameServers::fetch() {
    fetching_ = true;
    auto& loop = asker_.runtime().loop();
    asker_.runtime().resolver().post([&loop, url = url_, alive = alive_] {
        loop.post([alive, text = fetchText(url)] {
            if (*alive != nullptr) (*alive)->fetched(text);
        });
    });
}

void NameServers::fetched(const Result<std::string>& text) {
    fetching_ = false;
    auto list = text ? splitAddresses(*text) : std::vector<std::string>();
    refetch_.once(list.empty() ? std::chrono::milliseconds(kRefetchAfterFailure) : kRefetch, [this] { fetch(); });
    if (!list.empty()) list_ = std::move(list);
    for (auto& question : std::exchange(waiting_, {})) {
        if (list_.empty()) {
            question->done(Status(StatusCode::Unavailable, "no name server is known: " + (text ? url_ + " answered an empty list" : text.error().message())));
        } else {
            question->left = list_.size();
            attempt(question);
        }
    }
}

}  // namespace patchbay::client
