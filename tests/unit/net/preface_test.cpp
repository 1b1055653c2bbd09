// Proved: the first bytes of a connection are recognised however little of them has come, and PROXY headers are measured.
// How: whole texts and every prefix of them.
// Left to others: what the server does with it (tests/integration/server).
#include "patchbay/net/Preface.h"

#include <gtest/gtest.h>

#include <string>

namespace patchbay::net {
namespace {

using Kind = Preface::Kind;

TEST(Preface, AZeroByteMeansFrames) { EXPECT_EQ(readPreface(std::string_view("\0", 1)).kind, Kind::Frames); }

TEST(Preface, OtherProtocolsAreNamed) {
    EXPECT_EQ(readPreface("\x16\x03\x01").kind, Kind::Tls);
    EXPECT_EQ(readPreface("GET / HTTP/1.1\r\n").kind, Kind::Http);
    EXPECT_EQ(readPreface("POST /x").kind, Kind::Http);
    EXPECT_EQ(readPreface("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").kind, Kind::Http2);
    EXPECT_EQ(readPreface("SSH-2.0").kind, Kind::Unknown);
    EXPECT_EQ(readPreface("\xFF\xFF\xFF\xFF").kind, Kind::Unknown);
}

TEST(Preface, AProxyLineGivesTheSourceAndItsOwnLength) {
    const std::string line = "PROXY TCP4 192.0.2.7 198.51.100.1 1234 5678\r\n";
    const auto preface = readPreface(line + std::string("\0\0\0\5", 4));
    ASSERT_EQ(preface.kind, Kind::Proxy);
    EXPECT_EQ(preface.bytes, line.size());
    ASSERT_TRUE(preface.source);
    EXPECT_EQ(preface.source->toString(), "192.0.2.7:1234");
    for (std::size_t size = 1; size < line.size(); ++size) {
        EXPECT_EQ(readPreface(std::string_view(line).substr(0, size)).kind, Kind::NeedMore) << size;
    }
}

TEST(Preface, ProxyLinesOfOtherFamilies) {
    EXPECT_EQ(readPreface("PROXY TCP6 2001:db8::1 ::1 1234 5678\r\n").source->toString(), "[2001:db8::1]:1234");
    const auto unknown = readPreface("PROXY UNKNOWN\r\n");
    EXPECT_EQ(unknown.kind, Kind::Proxy);
    EXPECT_FALSE(unknown.source);
}

TEST(Preface, BrokenProxyLinesAreRefused) {
    for (const char* line : {"PROXY BOGUS\r\n", "PROXY TCP4 1.2.3 1.1.1.1 1 2\r\n", "PROXY TCP4 1.2.3.4 1.1.1.1 x 2\r\n",
                             "PROXY TCP4\r\n", "PROXY TCP4 1.2.3.4 1.1.1.1 99999 2\r\n"}) {
        EXPECT_EQ(readPreface(line).kind, Kind::BadProxy) << line;
    }
    EXPECT_EQ(readPreface("PROXY " + std::string(200, 'x')).kind, Kind::BadProxy);
}

TEST(Preface, ABinaryProxyHeaderGivesTheSourceAndItsOwnLength) {
    std::string header("\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0C", 16);
    header += std::string("\xC0\0\x02\x07\xC6\x33\x64\x01\x04\xD2\x16\x2E", 12);
    const auto preface = readPreface(header + "rest");
    ASSERT_EQ(preface.kind, Kind::Proxy);
    EXPECT_EQ(preface.bytes, header.size());
    EXPECT_EQ(preface.source->toString(), "192.0.2.7:1234");
    for (std::size_t size = 1; size < header.size(); ++size) {
        EXPECT_EQ(readPreface(std::string_view(header).substr(0, size)).kind, Kind::NeedMore) << size;
    }
    header[14] = '\x7F';  // 32 KiB of addresses
    EXPECT_EQ(readPreface(header).kind, Kind::BadProxy);
}

}  // namespace
}  // namespace patchbay::net
