// Proves: what a filtered pull is answered, what wakes it, and how far one looks for a message that few are.
// How: PullBench.h, with a filter that compares texts and a store that looks at few messages at once.
// Left to others: expressions (plugins/filter-sql92), pulls without filters (pull_test).
#include "PullBench.h"

#include "../FakeFilters.h"
#include "../PickyStore.h"

namespace patchbay::plugins::pull {
namespace {

class FilteredPullTest : public PullTest {
protected:
    void begin() {
        context_.provide<service::MessageFilter>(filters_);
        PullTest::begin();
    }
    static protocol::PullMessageRequest filtered(std::int64_t offset, std::string_view expression, std::int32_t sysFlag = kSubscribed) {
        auto header = request(offset, sysFlag, expression);
        header.expressionType = "SQL92";
        return header;
    }
    FakeFilters filters_;
};

TEST_F(FilteredPullTest, APullThatCarriesAnExpressionGetsWhatItWants) {
    begin();
    append("a", "x");
    append("b", "y");
    append("c", "x");
    auto result = pull(filtered(0, "TAGS=x"));
    EXPECT_EQ(bodies(result), (std::vector<std::string>{"a", "c"}));
    EXPECT_EQ(result.field("nextBeginOffset"), "3");
    auto none = pull(filtered(0, "TAGS=z"));
    EXPECT_EQ(none.code(), ResponseCode::PullRetryImmediately);
    EXPECT_EQ(none.field("nextBeginOffset"), "3");
}

TEST_F(FilteredPullTest, APullIsFilteredAsItsGroupHasRegistered) {
    begin();
    append("a", "x");
    append("b", "y");
    clients_.state.online = true;
    clients_.data = *protocol::SubscriptionData::build("T", "TAGS=y", "SQL92");
    EXPECT_EQ(bodies(pull(0, 0)), std::vector<std::string>{"b"});
}

TEST_F(FilteredPullTest, AHeldPullWakesForWhatItWantsAlone) {
    begin();
    auto held = pull(filtered(0, "TAGS=x", kHold));
    ASSERT_TRUE(held.held());
    append("a", "y");
    EXPECT_TRUE(held.held());
    append("b", "x");
    ASSERT_TRUE(held.answered());
    EXPECT_EQ(bodies(held), std::vector<std::string>{"b"});
}

/// A store that looks at ten messages at once.
class RareMatchTest : public FilteredPullTest {
protected:
    RareMatchTest() { limited_.filteredMax = 10; }
    service::MessageStore& store() override { return limited_; }
    void appendCommon(int count) {
        for (int i = 0; i < count; ++i) append("common", "y");
    }
    PickyStore limited_{context_.clock()};
};

TEST_F(RareMatchTest, OnePullGetsAMessageFarBehindOthers) {
    begin();
    appendCommon(95);
    append("rare", "x");
    auto result = pull(0, kSubscribed, "x");
    EXPECT_EQ(bodies(result), std::vector<std::string>{"rare"});
    EXPECT_EQ(result.field("nextBeginOffset"), "96");
    EXPECT_EQ(bodies(pull(filtered(60, "TAGS=x"))), std::vector<std::string>{"rare"});
}

TEST_F(RareMatchTest, OnePullDoesNotLookAtEverything) {
    begin();
    appendCommon(400);
    const std::size_t before = limited_.reads;
    auto tags = pull(0, kSubscribed, "x");
    EXPECT_EQ(tags.code(), ResponseCode::PullRetryImmediately);
    EXPECT_EQ(tags.field("nextBeginOffset"), "160");
    EXPECT_EQ(limited_.reads - before, 16U);
    EXPECT_EQ(pull(filtered(0, "TAGS=x")).field("nextBeginOffset"), "40");
}

TEST_F(FilteredPullTest, ExpressionsThatDoNotCompileAreRefusedByWhereTheyCameFrom) {
    begin();
    auto carried = pull(filtered(0, "bad"));
    EXPECT_EQ(carried.code(), ResponseCode::SubscriptionParseFailed);
    EXPECT_EQ(carried.remark(), "parse the consumer's subscription failed. no sign in it");
    clients_.state.online = true;
    clients_.data = *protocol::SubscriptionData::build("T", "bad", "SQL92");
    EXPECT_EQ(pull(0, 0).code(), ResponseCode::FilterDataNotExist);
    clients_.data = *protocol::SubscriptionData::build("T", "a=b", "XPATH");
    EXPECT_EQ(pull(0, 0).code(), ResponseCode::SystemError);
}

}  // namespace
}  // namespace patchbay::plugins::pull
