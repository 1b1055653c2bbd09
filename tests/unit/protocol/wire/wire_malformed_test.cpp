// Proves that exactly those byte sequences are refused for which a Java server closed the connection.
// How: cuts the recorded bytes into frames as a connection does, and decodes each.
// Left to others: what a connection does then, and the answers to frames that are well-formed but senseless.
#include "GoldenFrames.h"

#include "patchbay/protocol/CommandView.h"
#include "patchbay/protocol/util/ByteReader.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace patchbay::protocol {
namespace {

// Handled in front of the frames.
const std::set<std::string> kNotFrames = {"P-proxy-v1 namesrv"};

bool refused(std::string bytes, std::string& why) {
    std::size_t at = 0;
    while (bytes.size() - at >= sizeof(std::uint32_t)) {
        const auto length = loadBe<std::uint32_t>(bytes.data() + at);
        if (length > kFrameLengthMax) {
            why = "longer than the limit";
            return true;
        }
        at += sizeof length;
        if (bytes.size() - at < length) return false;
        CommandView view;
        const Status decoded = CommandView::decode({bytes.data() + at, length}, view);
        if (!decoded) {
            EXPECT_EQ(decoded.code(), StatusCode::Corrupt);
            why = decoded.message();
            return true;
        }
        at += length;
    }
    return false;
}

TEST(MalformedFrames, AreRefusedExactlyWhereJavaClosesTheConnection) {
    int closed = 0;
    int open = 0;
    for (const golden::Malformed& one : golden::malformedCases()) {
        if (kNotFrames.contains(one.id)) continue;
        std::string why;
        EXPECT_EQ(refused(one.sent, why), one.closed) << one.id << ": " << why;
        (one.closed ? closed : open) += 1;
    }
    EXPECT_GT(closed, 40);
    EXPECT_GT(open, 60);
}

}  // namespace
}  // namespace patchbay::protocol
