// HttpEndpoint: a small HTTP server for three paths.
#pragma once

#include "patchbay/base/Result.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace patchbay::plugins::metrics {

struct HttpAnswer {
    int status = 200;
    std::string contentType;
    std::string body;
};

/// Answers GET and HEAD with what `answer` says of a path, on threads of its own (two at most); others with 405. A client that sends
/// nothing is closed after 5 s. Owned by the plugin.
class HttpEndpoint {
public:
    using Answer = std::function<HttpAnswer(const std::string& path)>;
    HttpEndpoint();
    ~HttpEndpoint();   ///< stops

    /// Io when the address cannot be bound. Answers the port.
    Result<std::uint16_t> start(const std::string& host, std::uint16_t port, Answer answer);
    /// Returns when nothing runs any more.
    void stop() noexcept;

private:
    struct Running;
    std::unique_ptr<Running> running_;
};

}  // namespace patchbay::plugins::metrics
