// What a store makes of files that were cut, zeroed or changed.
#include "Groups.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

namespace patchbay::testkit {

void linkDamageTests() {}

namespace {

using service::ReadStatus;

constexpr int kGroup = 4;  // messages of a group, and of a batch

/// What is left of a queue to which "body-0" … were appended.
struct Left {
    std::int64_t max = 0;
    std::int64_t readable = 0;
    std::string wrong{};   // empty: each queue is an unbroken beginning, and what cannot be read is said to be so
};

Left lookAt(service::MessageStore& store, int appended) {
    const auto range = store.range("TopicTest", 0);
    Left left{.max = range.max};
    const auto wrong = [&](std::int64_t offset, std::string_view what) {
        left.wrong = "at offset " + std::to_string(offset) + ": " + std::string(what);
        return left;
    };
    if (range.max > appended) return wrong(range.max, "more than was appended");
    service::ReadResult result;
    for (std::int64_t offset = range.min; offset < range.max; offset = result.nextOffset) {
        store.read("TopicTest", 0, offset, {}, nullptr, result);
        if (result.status == ReadStatus::Failed) {
            if (result.nextOffset != offset) return wrong(offset, "a read that failed goes on as if it had not");
            return left;
        }
        if (result.status != ReadStatus::Found && result.status != ReadStatus::Gone) {
            return wrong(offset, "status " + std::to_string(static_cast<int>(result.status)) + " inside of the queue");
        }
        std::string joined;
        for (const auto piece : result.pieces) joined += piece;
        for (std::string_view rest = joined; !rest.empty();) {
            protocol::RecordView view;
            if (protocol::RecordView::parse(rest, view) != protocol::RecordStatus::Message) return wrong(offset, "no whole record was served");
            if (view.body != "body-" + std::to_string(view.queueOffset)) return wrong(view.queueOffset, "another body was served");
            rest.remove_prefix(static_cast<std::size_t>(view.size));
            ++left.readable;
        }
        if (result.nextOffset <= offset) return wrong(offset, "a read does not go on");
    }
    return left;
}

std::string contentOf(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// Names of the files that are not empty, relative to the directory.
std::vector<std::string> filesIn(const TempDir& dir) {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(dir.path())) {
        if (entry.is_regular_file() && entry.file_size() > 0) names.push_back(std::filesystem::relative(entry.path(), dir.path()).string());
    }
    std::sort(names.begin(), names.end());
    return names;
}

/// Messages that stand whole before `at`: those before the last one whose body begins there. In a file of transactions it is the group that
/// counts, and its messages may stand in another order.
int wholeBefore(const std::string& content, std::size_t at, int appended) {
    if (at >= content.size()) return appended;
    int whole = 0;
    while (whole + 1 < appended && content.find("body-" + std::to_string(whole + 1)) < at) ++whole;
    return whole;
}

/// A file that ends earlier than it did, or is zero from there on, as one whose space was reserved.
struct Cut {
    std::string file;
    std::size_t at = 0;
    bool zeroed = false;
    int whole = 0;          // messages that have to come back
    bool isTornEnd = false; // what a crash leaves: no reason not to start
};

/// Places in a file: its beginning, and in a log such in front of, in and behind a record, in a group and at its end.
std::vector<Cut> cutsOf(const std::string& file, const std::string& content, const StoreTraits& traits, int appended) {
    std::vector<Cut> cuts;
    for (const std::size_t at : {std::size_t{0}, content.size() / 2, content.size() * 97 / 100}) cuts.push_back({.file = file, .at = at});
    if (traits.log.empty() || file.find(traits.log) == std::string::npos) return cuts;
    for (const int message : {1, 50, 53, 151, appended - 1}) {
        const auto at = content.find("body-" + std::to_string(message));
        if (at == std::string::npos) continue;
        for (const std::size_t place : {at - 1, at + 3}) cuts.push_back({.file = file, .at = place, .isTornEnd = message == appended - 1});
    }
    for (Cut& cut : cuts) {
        const int whole = wholeBefore(content, cut.at, appended);
        cut.whole = traits.tearsGroups ? whole : whole / kGroup * kGroup;
    }
    for (std::size_t i = 0, end = cuts.size(); i < end; ++i) {
        cuts.push_back(cuts[i]);
        cuts.back().zeroed = true;
    }
    return cuts;
}

void expectCleanPrefix(service::MessageStore& store, const Cut& cut, const StoreTraits& traits, int appended, bool& torn) {
    const Left left = lookAt(store, appended);
    EXPECT_EQ(left.wrong, "");
    EXPECT_GE(left.readable, cut.whole) << "messages were dropped that stand whole before the damage";
    if (left.max % kGroup != 0) {
        torn = true;
        EXPECT_TRUE(traits.tearsGroups) << "half a group is left";
    }
    const auto next = appendOne(store, {.body = "body-" + std::to_string(left.max)});
    if (service::isStored(next.status)) {
        EXPECT_EQ(next.queueOffset, left.max);
        EXPECT_EQ(lookAt(store, appended + 1).wrong, "");
    } else {
        EXPECT_FALSE(store.stats().health.isOk()) << "it takes no message and does not say why";
    }
}

void copyDirectory(const TempDir& from, const TempDir& to) {
    std::filesystem::copy(from.path(), to.path(), std::filesystem::copy_options::recursive);
}

TEST_P(MessageStoreContract, TruncatedFilesGiveACleanPrefixOrARefusal) {
    if (!durable()) GTEST_SKIP() << "not durable";
    static constexpr int kMessages = 200;
    for (int first = 0; first < kMessages; first += kGroup) {
        TestBatch batch;
        for (int i = first; i < first + kGroup; ++i) {
            batch.add({.body = "body-" + std::to_string(i), .groupSize = static_cast<std::uint16_t>(i == first ? kGroup : 1)});
        }
        batch.appendTo(store());
        ASSERT_TRUE(batch.wait());
    }
    const auto& traits = GetParam().traits;
    const TempDir seen;
    copyFilesTo(seen);
    bool torn = false;
    for (const auto& name : filesIn(seen)) {
        const std::string content = contentOf(seen.file(name));
        for (const Cut& cut : cutsOf(name, content, traits, kMessages)) {
            SCOPED_TRACE(name + (cut.zeroed ? " zeroed from byte " : " cut to ") + std::to_string(cut.at) + " of " + std::to_string(content.size()));
            const TempDir copy;
            copyDirectory(seen, copy);
            std::filesystem::resize_file(copy.file(name), cut.at);
            if (cut.zeroed) std::filesystem::resize_file(copy.file(name), content.size());
            auto opened = open(copy);
            if (opened) {
                expectCleanPrefix((*opened)->store(), cut, traits, kMessages, torn);
            } else {
                EXPECT_FALSE(cut.isTornEnd) << "it refuses what a crash leaves: " << opened.error().toString();
            }
        }
    }
    observed("groups stay whole in a torn file", torn ? "no" : "yes");
}

using OpenIn = std::function<Result<std::unique_ptr<StoreUnderTest>>(const TempDir&)>;

/// Flips a bit of a body, in one file after the other that holds it; what was wrong with what the store served then, or nothing.
std::string flipEverywhere(const TempDir& seen, std::string_view body, int appended, const OpenIn& open, int& places) {
    for (const auto& name : filesIn(seen)) {
        const std::string content = contentOf(seen.file(name));
        for (auto at = content.find(body); at != std::string::npos; at = content.find(body, at + 1)) {
            ++places;
            const TempDir copy;
            copyDirectory(seen, copy);
            std::fstream file(copy.file(name), std::ios::in | std::ios::out | std::ios::binary);
            file.seekp(static_cast<std::streamoff>(at + body.size() - 1));
            file.put(static_cast<char>(body.back() ^ 0x10));
            file.close();
            auto opened = open(copy);
            if (!opened) continue;
            const Left left = lookAt((*opened)->store(), appended);
            if (!left.wrong.empty()) return name + " byte " + std::to_string(at) + ": " + left.wrong;
        }
    }
    return {};
}

TEST_P(MessageStoreContract, FlippedBitsInABodyAreNotServed) {
    if (!durable()) GTEST_SKIP() << "not durable";
    static constexpr int kMessages = 50;
    appendMany(kMessages);
    for (const bool stopped : {false, true}) {
        if (stopped) close();
        const TempDir seen;
        copyFilesTo(seen);
        int places = 0;
        const std::string wrong = flipEverywhere(seen, "body-7", kMessages, [this](const TempDir& dir) { return open(dir); }, places);
        if (stopped ? GetParam().traits.detectsBitFlipsAfterStop : GetParam().traits.detectsBitFlips) {
            EXPECT_EQ(wrong, "") << (stopped ? "after a clean stop" : "after a kill");
            EXPECT_GT(places, 0) << "no file holds the body as it was sent, so nothing was tried";
        }
        const std::string_view found = places == 0 ? "–" : wrong.empty() ? "yes" : "no";
        observed(stopped ? "finds a flipped bit in a body after a clean stop" : "finds a flipped bit in a body after a kill", found);
    }
}

// A bit in any of the files, not in a body.
TEST_P(MessageStoreContract, FlippedBitsInOtherPlacesGiveACleanPrefixOrARefusal) {
    if (!durable() || !GetParam().traits.detectsBitFlips) GTEST_SKIP() << "the backend does not promise it";
    static constexpr int kMessages = 50;
    appendMany(kMessages);
    const TempDir seen;
    copyFilesTo(seen);
    for (const auto& name : filesIn(seen)) {
        SCOPED_TRACE(name);
        const std::string content = contentOf(seen.file(name));
        const TempDir copy;
        copyDirectory(seen, copy);
        const std::size_t at = std::min<std::size_t>(content.size(), 4096) / 2;
        std::fstream file(copy.file(name), std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(static_cast<std::streamoff>(at));
        file.put(static_cast<char>(content[at] ^ 0x10));
        file.close();
        auto opened = open(copy);
        if (opened) {
            EXPECT_EQ(lookAt((*opened)->store(), kMessages).wrong, "");
        }
    }
}

}  // namespace
}  // namespace patchbay::testkit
