// Proved: progress never passes a message that is still here, whatever the order in which they are consumed.
// How: the inbox alone, with messages made by hand.
// Left to others: who fills and empties it (integration).
#include "consumer/Inbox.h"
#include "message/MessageData.h"

#include <gtest/gtest.h>

namespace patchbay::client {
namespace {

ReceivedMessage at(std::int64_t offset, const std::string& body = "x") {
    auto data = std::make_shared<ReceivedMessage::Data>();
    data->record.queueOffset = offset;
    data->unpacked = body;
    data->body = data->unpacked;
    return ReceivedMessage(std::move(data));
}

TEST(AnInbox, CommitsTheLowestThatIsHere) {
    Inbox inbox;
    EXPECT_FALSE(inbox.commitOffset());
    EXPECT_EQ(inbox.add({at(5), at(6), at(7)}), 3U);
    EXPECT_EQ(inbox.commitOffset(), 5);
    static_cast<void>(inbox.take(3));
    inbox.remove(6);
    inbox.remove(7);
    EXPECT_EQ(inbox.commitOffset(), 5);
    inbox.remove(5);
    EXPECT_EQ(inbox.commitOffset(), 8);
    EXPECT_EQ(inbox.bytes(), 0U);
}

TEST(AnInbox, CommitsWhatWasPassedByWhenNothingIsLeft) {
    Inbox inbox;
    inbox.add({at(3), at(4)});
    inbox.passed(9);
    EXPECT_EQ(inbox.commitOffset(), 3) << "these are not consumed yet";
    inbox.remove(3);
    inbox.remove(4);
    EXPECT_EQ(inbox.commitOffset(), 9);
    inbox.clear();
    EXPECT_FALSE(inbox.commitOffset());
}

TEST(AnInbox, TakesEachOnceUnlessItIsGivenBack) {
    Inbox inbox;
    inbox.add({at(1), at(2), at(3)});
    EXPECT_EQ(inbox.take(2).size(), 2U);
    EXPECT_EQ(inbox.waiting(), 1U);
    inbox.giveBack(1);
    inbox.giveBack(1);
    EXPECT_EQ(inbox.waiting(), 2U);
    const auto again = inbox.take(5);
    ASSERT_EQ(again.size(), 2U);
    EXPECT_EQ(again.front().queueOffset(), 1);
    EXPECT_EQ(inbox.waiting(), 0U);
}

TEST(AnInbox, IgnoresWhatItHasAlready) {
    Inbox inbox;
    inbox.add({at(1, "four")});
    EXPECT_EQ(inbox.add({at(1, "other"), at(2, "two")}), 1U);
    EXPECT_EQ(inbox.bytes(), 7U);
    EXPECT_EQ(inbox.span(), 1);
}

}  // namespace
}  // namespace patchbay::client
