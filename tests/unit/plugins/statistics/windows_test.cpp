// Proves: sums, rates and means of the three windows follow RocketMQ's rules.
// How: samples by hand, and the figures of a recorded answer. Left to others: what is counted (statistics_test).
#include "Traffic.h"

#include <gtest/gtest.h>

namespace patchbay::plugins::statistics {
namespace {

TEST(Windows, NothingSampledIsNought) {
    const Windows windows;
    EXPECT_EQ(windows.figures().minute.sum, 0);
    EXPECT_EQ(windows.figures().minute.tps, 0.0);
}

TEST(Windows, TheFirstSampleCountsFromNoughtADistanceAgo) {
    Windows windows;
    windows.take({1'000'000, 24, 30}, 0);
    const auto figures = windows.figures();
    EXPECT_EQ(figures.minute.sum, 30);
    EXPECT_DOUBLE_EQ(figures.minute.tps, 3.0);
    EXPECT_DOUBLE_EQ(figures.minute.avgpt, 1.25);
    EXPECT_DOUBLE_EQ(figures.hour.tps, 0.05) << "30 in ten minutes, as recorded";
    EXPECT_DOUBLE_EQ(figures.day.tps, 30.0 / 3600.0);
}

TEST(Windows, AMinuteForgetsWhatIsOlder) {
    Windows windows;
    for (std::uint64_t tick = 0; tick < 20; ++tick) {
        const auto at = static_cast<std::int64_t>(tick);
        windows.take({at * 10'000, at, at < 5 ? at * 100 : 500}, tick);
    }
    EXPECT_EQ(windows.figures().minute.sum, 0) << "all of it came more than a minute ago";
    EXPECT_EQ(windows.figures().hour.sum, 0) << "the hour was looked at once, when nothing had come";
}

TEST(Windows, HoursAndDaysAreLookedAtAtTheirOwnPace) {
    Windows windows;
    for (std::uint64_t tick = 0; tick <= 360; ++tick) {
        const auto at = static_cast<std::int64_t>(tick);
        windows.take({at * 10'000, at, at}, tick);
    }
    EXPECT_EQ(windows.figures().minute.sum, 6);
    EXPECT_EQ(windows.figures().hour.sum, 360);
    EXPECT_DOUBLE_EQ(windows.figures().hour.tps, 0.1);
    EXPECT_EQ(windows.figures().day.sum, 360);
}

TEST(Windows, AClockThatWasSetBackMakesNoNegativeRate) {
    Windows windows;
    windows.take({100'000, 1, 1}, 0);
    windows.take({50'000, 2, 5}, 1);
    EXPECT_EQ(windows.figures().minute.tps, 0.0);
}

TEST(Followed, ACountThatBeginsAnewGoesOn) {
    Followed count;
    count.take(0, 100, 10'000, 0);
    count.take(0, 130, 20'000, 1);
    count.take(0, 5, 30'000, 2);
    EXPECT_EQ(count.figures().minute.sum, 135) << "100, 30 more, and 5 of a new owner";
}

}  // namespace
}  // namespace patchbay::plugins::statistics
