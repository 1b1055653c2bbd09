// Proves: providers come before users, ties are broken by name, and what cannot be is said in one line each.
// How: invented plugins. Left to others: real libraries (tests/plugin).
#include "plugin/DependencyOrder.h"

#include <gtest/gtest.h>

namespace patchbay::kernel {
namespace {

using Names = std::vector<std::string>;

DependencyNode node(std::string name, Names provides = {}, Names requires_ = {}, Names wants = {}, bool optional = false) {
    return {std::move(name), std::move(provides), std::move(requires_), std::move(wants), optional};
}

struct Ordered {
    DependencyResult result;
    Problems problems;
};

Ordered order(std::vector<DependencyNode> nodes, ServiceChoices choices = {}, std::vector<PossibleProvider> possible = {}) {
    Ordered out;
    out.result = orderPlugins(std::move(nodes), choices, possible, out.problems);
    return out;
}

TEST(DependencyOrder, PutsProvidersFirstAndBreaksTiesByName) {
    const auto out = order({node("send", {}, {"Store/1", "Topics/1"}), node("admin", {}, {"Topics/1"}), node("store", {"Store/1"}),
                            node("topics", {"Topics/1"}, {}, {"Store/1"}), node("zed")});
    EXPECT_TRUE(out.problems.empty()) << out.problems.toString();
    EXPECT_EQ(out.result.order, (Names{"store", "topics", "admin", "send", "zed"}));
}

TEST(DependencyOrder, PutsFirstWhoAsksForItBehindThoseWhomHeNeeds) {
    auto store = node("store", {"Store/1"}, {}, {"Disk/1"});
    store.first = true;
    const auto out = order({node("admin"), store, node("zdisk", {"Disk/1"}), node("filter"), node("topics", {}, {}, {"Store/1"})});
    EXPECT_EQ(out.result.order, (Names{"admin", "filter", "zdisk", "store", "topics"}));
    store.wants.clear();
    EXPECT_EQ(order({node("admin"), store, node("filter")}).result.order, (Names{"store", "admin", "filter"}));
}

TEST(DependencyOrder, StartsAlikeTwiceWhateverTheOrderOfFiles) {
    const auto a = order({node("c"), node("a"), node("b", {"B/1"}), node("d", {}, {"B/1"})});
    const auto b = order({node("d", {}, {"B/1"}), node("b", {"B/1"}), node("a"), node("c")});
    EXPECT_EQ(a.result.order, b.result.order);
}

TEST(DependencyOrder, NamesThoseWhoCouldProvideWhatIsMissing) {
    const auto out = order({node("pull", {}, {"patchbay.MessageStore/1"})}, {},
                           {{"storage-mmap", {"patchbay.MessageStore/1"}}, {"storage-sqlite", {"patchbay.MessageStore/1"}}});
    ASSERT_EQ(out.problems.size(), 1U);
    EXPECT_EQ(out.problems.list()[0].toString(),
              "PB-1111 plugin pull: needs service patchbay.MessageStore/1; no enabled plugin provides it. storage-mmap and "
              "storage-sqlite can.");
}

TEST(DependencyOrder, SaysWhenOnlyAnotherVersionIsThere) {
    const auto out = order({node("pull", {}, {"Store/2"}), node("mmap", {"Store/1"})});
    ASSERT_EQ(out.problems.size(), 1U);
    EXPECT_EQ(out.problems.list()[0].text, "needs service Store/2; mmap provides Store/1 only.");
}

TEST(DependencyOrder, LetsWantsGoUnmet) {
    EXPECT_EQ(order({node("offsets", {}, {}, {"Store/1"})}).result.order, Names{"offsets"});
}

TEST(DependencyOrder, RefusesTwoProvidersUnlessOneIsChosen) {
    const std::vector<DependencyNode> nodes{node("mmap", {"patchbay.MessageStore/1"}), node("sqlite", {"patchbay.MessageStore/1"}),
                                            node("send", {}, {"patchbay.MessageStore/1"})};
    auto out = order(nodes);
    ASSERT_EQ(out.problems.size(), 1U);
    EXPECT_EQ(out.problems.list()[0].toString(),
              "PB-1112 service patchbay.MessageStore/1: provided by mmap and sqlite; choose with `service.patchbay.MessageStore = mmap`");
    out = order(nodes, {{"patchbay.MessageStore", {"sqlite", "b.conf:3"}}});
    EXPECT_TRUE(out.problems.empty()) << out.problems.toString();
    EXPECT_EQ(out.result.order, (Names{"sqlite", "send"}));
    EXPECT_EQ(out.result.notChosen, Names{"mmap"});
}

TEST(DependencyOrder, RefusesAChoiceThatCannotBe) {
    auto out = order({node("mmap", {"Store/1"})}, {{"Store", {"sqlite", "b.conf:3"}}});
    ASSERT_EQ(out.problems.size(), 1U);
    EXPECT_EQ(out.problems.list()[0].toString(), "PB-1114 b.conf:3: service.Store = sqlite: the enabled plugins that provide it are mmap");
    out = order({}, {{"Store", {"sqlite", "b.conf:3"}}});
    EXPECT_EQ(out.problems.list().at(0).text, "service.Store = sqlite: no enabled plugin provides it");
}

TEST(DependencyOrder, PrintsACircle) {
    const auto out = order({node("a", {"A/1"}, {"B/1"}), node("b", {"B/1"}, {"C/1"}), node("c", {"C/1"}, {"B/1"})});
    ASSERT_EQ(out.problems.size(), 1U);
    EXPECT_EQ(out.problems.list()[0].toString(), "PB-1113 plugin b: needs itself: b -> c -> b");
}

TEST(DependencyOrder, LeavesOutOptionalPluginsAndLooksAtTheirUsersAgain) {
    const auto out = order({node("metrics", {"Metrics/1"}, {"Missing/1"}, {}, true), node("console", {}, {"Metrics/1"}, {}, true), node("send")});
    EXPECT_TRUE(out.problems.empty()) << out.problems.toString();
    EXPECT_EQ(out.result.order, Names{"send"});
    EXPECT_EQ(out.result.skipped.size(), 2U);
}

TEST(DependencyOrder, ReportsEveryMissingServiceOnce) {
    const auto out = order({node("a", {}, {"X/1", "Y/1"}), node("b", {}, {"X/1"}), node("o", {}, {"Z/1"}, {}, true)});
    EXPECT_EQ(out.problems.size(), 3U) << out.problems.toString();
}

}  // namespace
}  // namespace patchbay::kernel
