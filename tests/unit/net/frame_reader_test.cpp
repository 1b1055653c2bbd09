// Proved: frames come out whole and in order however the stream is cut, and claims about length allocate nothing.
// How: bytes are put where the reader says, in every split of two frames and in random pieces.
// Left to others: what is inside a frame (unit/protocol).
#include "patchbay/net/FrameReader.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace patchbay::net {
namespace {

std::string frameOf(const std::string& content) {
    std::string frame(4, '\0');
    for (std::size_t i = 0; i < 4; ++i) frame[i] = static_cast<char>((content.size() >> (8 * (3 - i))) & 0xFF);
    return frame + content;
}

struct Collector final : FrameSink {
    Then frame(std::span<char> bytes, ReceiveChunk&) noexcept override {
        frames.emplace_back(bytes.data(), bytes.size());
        return pauseAfter != 0 && frames.size() % pauseAfter == 0 ? Then::Pause : Then::Next;
    }
    std::vector<std::string> frames;
    std::size_t pauseAfter = 0;
};

class FrameReaderTest : public ::testing::Test {
protected:
    /// Feeds bytes as a socket would; ends the turn afterwards.
    Status feed(FrameReader& to, std::string_view bytes) {
        while (!bytes.empty()) {
            const auto place = to.place(cursor);
            const auto size = std::min(place.size(), bytes.size());
            std::memcpy(place.data(), bytes.data(), size);
            bytes.remove_prefix(size);
            to.add(cursor, size);
            if (auto status = to.handOut(cursor, sink); !status) return status;
        }
        to.park();
        return Status::ok();
    }
    Ref<ChunkPool> pool = Ref<ChunkPool>::adopt(new ChunkPool(256U << 10, 4));
    ReceiveCursor cursor{pool};
    Collector sink;
    FrameReader reader{16U << 20};
};

TEST_F(FrameReaderTest, EverySplitOfTwoFramesGivesTheTwoFrames) {
    const std::string a(70, 'a');
    const std::string b(33, 'b');
    const auto stream = frameOf(a) + frameOf(b);
    for (std::size_t split = 0; split <= stream.size(); ++split) {
        sink.frames.clear();
        FrameReader fresh(16U << 20);
        ASSERT_TRUE(feed(fresh, std::string_view(stream).substr(0, split)));
        ASSERT_TRUE(feed(fresh, std::string_view(stream).substr(split)));
        ASSERT_EQ(sink.frames, (std::vector<std::string>{a, b})) << "split at " << split;
    }
}

TEST_F(FrameReaderTest, RandomPiecesOfTwoStreamsThroughOneCursorStayApart) {
    std::mt19937 random(7);
    FrameReader other(16U << 20);
    std::vector<std::string> sent;
    std::string stream;
    for (int i = 0; i < 300; ++i) {
        const auto size = 4 + random() % (i % 20 == 0 ? 300'000 : 3'000);
        sent.emplace_back(size, static_cast<char>('a' + i % 26));
        stream += frameOf(sent.back());
    }
    const auto noise = frameOf(std::string(900, 'n'));
    std::size_t at = 0;
    std::size_t noiseAt = 0;
    std::size_t noiseFrames = 0;
    while (at < stream.size()) {
        const auto size = std::min<std::size_t>(1 + random() % 90'000, stream.size() - at);
        ASSERT_TRUE(feed(reader, std::string_view(stream).substr(at, size)));
        at += size;
        const auto before = sink.frames.size();
        const auto part = std::min<std::size_t>(1 + random() % 500, noise.size() - noiseAt);
        ASSERT_TRUE(feed(other, std::string_view(noise).substr(noiseAt, part)));
        noiseAt = (noiseAt + part) % noise.size();
        noiseFrames += sink.frames.size() - before;
        sink.frames.resize(before);
    }
    EXPECT_EQ(sink.frames, sent);
    EXPECT_GT(noiseFrames, 0U);
}

TEST_F(FrameReaderTest, KeptFramesAreNotOverwrittenByLaterOnes) {
    struct Views final : FrameSink {
        Then frame(std::span<char> bytes, ReceiveChunk& chunk) noexcept override {
            seen.emplace_back(bytes.data(), bytes.size());
            kept.push_back(KeepAlive(Ref<ReceiveChunk>::share(&chunk)));
            return Then::Next;
        }
        std::vector<std::string_view> seen;
        std::vector<KeepAlive> kept;
    } views;
    for (int i = 0; i < 2'000; ++i) {
        const auto frame = frameOf(std::string(1'000, static_cast<char>('a' + i % 26)));
        const auto place = reader.place(cursor);
        std::memcpy(place.data(), frame.data(), frame.size());
        reader.add(cursor, frame.size());
        ASSERT_TRUE(reader.handOut(cursor, views));
        reader.park();
        cursor.rewindIfUnused();
    }
    for (std::size_t i = 0; i < views.seen.size(); ++i) {
        ASSERT_EQ(views.seen[i], std::string(1'000, static_cast<char>('a' + i % 26)));
    }
}

TEST_F(FrameReaderTest, APauseKeepsTheRestForLaterHoweverOftenAndWithOthersInTheSameChunk) {
    std::vector<std::string> sent;
    std::string stream;
    for (int i = 0; stream.size() < 250'000; ++i) {
        sent.emplace_back(static_cast<std::size_t>(i % 90) + 4, static_cast<char>('a' + i % 26));
        stream += frameOf(sent.back());
    }
    sent.emplace_back(300'000, 'L');  // only its beginning is in the chunk when the first pause comes
    stream += frameOf(sent.back());
    sink.pauseAfter = 7;
    FrameReader other(16U << 20);
    for (std::string_view rest = stream; !rest.empty();) {
        const auto place = reader.place(cursor);
        const auto size = std::min(place.size(), rest.size());
        std::memcpy(place.data(), rest.data(), size);
        rest.remove_prefix(size);
        reader.add(cursor, size);
        ASSERT_TRUE(reader.handOut(cursor, sink));
        for (reader.park(); reader.held(); reader.park()) {
            const auto before = sink.frames.size();
            ASSERT_LE(before, sent.size());
            ASSERT_TRUE(feed(other, frameOf("between")));
            sink.frames.resize(before);
            cursor.rewindIfUnused();
            ASSERT_TRUE(reader.handOut(cursor, sink));
        }
    }
    EXPECT_EQ(sink.frames, sent);
}

TEST_F(FrameReaderTest, WhatIsWrongBehindAPauseIsFoundAfterIt) {
    sink.pauseAfter = 1;
    ASSERT_TRUE(feed(reader, frameOf("good") + std::string("\0\0\0\3", 4)));
    ASSERT_TRUE(reader.held());
    EXPECT_EQ(reader.handOut(cursor, sink).code(), StatusCode::Corrupt);
}

TEST_F(FrameReaderTest, AClaimedLengthAllocatesOnlyWhatArrives) {
    std::string head(4, '\0');
    head[1] = '\xFF';  // 16,711,680 bytes are to follow
    ASSERT_TRUE(feed(reader, head + "x"));
    EXPECT_EQ(reader.kept(), 5U);
    ASSERT_TRUE(feed(reader, std::string(40'000, 'x')));
    EXPECT_LE(reader.kept(), 2 * 40'005U);
}

TEST_F(FrameReaderTest, ImpossibleLengthsAreCorruptAtOnce) {
    for (const auto& bytes : {std::string("\0\0\0\3", 4), std::string("\0\0\0\0", 4), std::string("\xFF\xFF\xFF\xFF", 4),
                              std::string("\0\xFF\xFF\xFD", 4)}) {
        FrameReader fresh(16U << 20);
        EXPECT_EQ(feed(fresh, bytes).code(), StatusCode::Corrupt);
    }
    FrameReader atLimit(16U << 20);
    EXPECT_TRUE(feed(atLimit, std::string("\0\xFF\xFF\xFC", 4)));
}

TEST_F(FrameReaderTest, AChunkIsUsedAgainOnceNobodyLooksAtIt) {
    const auto frame = frameOf(std::string(1'000, 'x'));
    ASSERT_TRUE(feed(reader, frame));
    const auto* const first = reader.place(cursor).data() - frame.size();
    cursor.rewindIfUnused();
    EXPECT_EQ(reader.place(cursor).data(), first);
}

}  // namespace
}  // namespace patchbay::net
