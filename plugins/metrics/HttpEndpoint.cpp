#include "HttpEndpoint.h"

#include <Poco/Net/HTTPRequestHandler.h>
#include <Poco/Net/HTTPRequestHandlerFactory.h>
#include <Poco/Net/HTTPServer.h>
#include <Poco/Net/HTTPServerParams.h>
#include <Poco/Net/HTTPServerRequest.h>
#include <Poco/Net/HTTPServerResponse.h>
#include <Poco/Net/ServerSocket.h>
#include <Poco/ThreadPool.h>
#include <system_error>

namespace patchbay::plugins::metrics {

namespace {

namespace net = Poco::Net;

class Handler final : public net::HTTPRequestHandler {
public:
    explicit Handler(const HttpEndpoint::Answer& answer) : answer_(answer) {}

    void handleRequest(net::HTTPServerRequest& request, net::HTTPServerResponse& response) override {
        const bool head = request.getMethod() == net::HTTPRequest::HTTP_HEAD;
        HttpAnswer answer{405, "text/plain", "only GET and HEAD\n"};
        if (head || request.getMethod() == net::HTTPRequest::HTTP_GET) answer = answer_(request.getURI().substr(0, request.getURI().find('?')));
        response.setStatusAndReason(static_cast<net::HTTPResponse::HTTPStatus>(answer.status));
        response.setContentType(answer.contentType);
        response.setContentLength64(static_cast<Poco::Int64>(answer.body.size()));
        auto& out = response.send();
        if (!head) out << answer.body;
    }

private:
    const HttpEndpoint::Answer& answer_;
};

class Factory final : public net::HTTPRequestHandlerFactory {
public:
    explicit Factory(const HttpEndpoint::Answer& answer) : answer_(answer) {}
    net::HTTPRequestHandler* createRequestHandler(const net::HTTPServerRequest&) override { return new Handler(answer_); }

private:
    const HttpEndpoint::Answer& answer_;
};

constexpr int kThreads = 2;
constexpr int kWaiting = 16;

net::HTTPServerParams::Ptr params() {
    net::HTTPServerParams::Ptr made = new net::HTTPServerParams;
    made->setMaxThreads(kThreads);
    made->setMaxQueued(kWaiting);
    made->setKeepAlive(false);   // a stop would wait for idle connections
    made->setTimeout(Poco::Timespan(5, 0));
    made->setSoftwareVersion("patchbay");
    return made;
}

}  // namespace

struct HttpEndpoint::Running {
    Running(Answer what, const net::ServerSocket& on)
        : answer(std::move(what)), pool("metrics", 1, kThreads), server(new Factory(answer), pool, on, params()) {}

    const Answer answer;
    Poco::ThreadPool pool;   // Poco's own one is the process's
    net::HTTPServer server;
};

HttpEndpoint::HttpEndpoint() = default;

HttpEndpoint::~HttpEndpoint() { stop(); }

Result<std::uint16_t> HttpEndpoint::start(const std::string& host, std::uint16_t port, Answer answer) {
    try {
        net::ServerSocket socket;
        socket.bind(net::SocketAddress(host, port), true, false);   // never beside another process
        socket.listen(kWaiting);
        running_ = std::make_unique<Running>(std::move(answer), socket);
        running_->server.start();
        return socket.address().port();
    } catch (const Poco::Exception& error) {
        running_.reset();
        // Poco's what() is the name of the class where there is no word for the error number.
        const auto why = error.code() != 0 ? std::generic_category().message(error.code()) : error.displayText();
        return Status(StatusCode::Io, "cannot listen on " + host + ":" + std::to_string(port) + ": " + why);
    } catch (const std::exception& error) {
        running_.reset();
        return Status(StatusCode::Io, host + ":" + std::to_string(port) + ": " + error.what());
    }
}

void HttpEndpoint::stop() noexcept {
    if (!running_) return;
    try {
        running_->server.stopAll(true);
        running_->pool.joinAll();
    } catch (...) {   // threads end by their time limit
    }
    running_.reset();
}

}  // namespace patchbay::plugins::metrics
