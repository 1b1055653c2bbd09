// Recorded exchanges with a Java broker and name server, from tests/data/golden/frames.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::protocol::golden {

/// One frame and what the recording says about its header.
struct Frame {
    std::string where;         ///< "file.jsonl:12 request", for messages of failed tests
    std::int32_t requestCode;  ///< of the exchange, also in its answer
    bool response;
    std::optional<std::int32_t> answerCode;  ///< of the exchange; none when it was not answered
    bool binary;
    std::string bytes;   ///< with the length word
    std::string header;  ///< as JSON
};

/// Every request and every answer, in the order of the files' names. Fails the test when there is nothing.
void forEachFrame(const std::function<void(const Frame&)>& visit);

/// One line of malformed.jsonl.
struct Malformed {
    std::string id;       ///< with the server: "P-ok broker"
    std::string sent;     ///< raw bytes
    bool closed;          ///< whether the Java server closed the connection
    std::size_t answers;  ///< frames that came back
    bool probed;  ///< another, good request followed on the same connection and counts in `answers` if it was answered
};
std::vector<Malformed> malformedCases();

std::string decodeBase64(std::string_view text);

}  // namespace patchbay::protocol::golden
