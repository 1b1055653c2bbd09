// Proved: the system is asked once for a region and a while, not for what was never written, and exactly where parts are missing.
// How: a mapping that counts questions and whose missing pages the test decides, a clock that is a number.
// Left to others: what reads make of the answer (contract suite).
#include "Residency.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace patchbay::mmapstore {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kRegion = Residency::kRegionBytes;

class CountingMapping final : public Mapping {
public:
    explicit CountingMapping(std::size_t bytes) : content_(bytes, '\0') { bytes_ = content_; }
    [[nodiscard]] bool resident(std::size_t offset, std::size_t size) const noexcept override {
        ++asked;
        return missing < offset || missing >= offset + size;
    }
    [[nodiscard]] Status populate(std::size_t, std::size_t) const override { return Status::ok(); }
    mutable int asked = 0;
    std::size_t missing = SIZE_MAX;

private:
    const std::string content_;
};

class ResidencyTest : public testing::Test {
protected:
    Ref<CountingMapping> map = Ref<CountingMapping>::adopt(new CountingMapping(3 * kRegion + 100));
    Residency residency{Ref<Mapping>(map)};
    MonotonicTime now{1h};

    bool has(std::size_t offset, std::size_t size = 100, std::size_t limit = 3 * kRegion + 100) {
        return residency.has(offset, size, limit, now);
    }
};

TEST_F(ResidencyTest, ARegionIsAskedForOnceASecond) {
    EXPECT_TRUE(has(0));
    EXPECT_TRUE(has(5000));
    EXPECT_TRUE(has(kRegion - 100));
    EXPECT_EQ(map->asked, 1);
    now += Residency::kPresentFor;
    EXPECT_TRUE(has(0));
    EXPECT_EQ(map->asked, 2);
}

TEST_F(ResidencyTest, RangesThatCrossRegionsNeedAllOfThem) {
    EXPECT_TRUE(has(kRegion - 50));
    EXPECT_EQ(map->asked, 2);
    EXPECT_TRUE(has(3 * kRegion)) << "the last region is shorter than the others";
    EXPECT_FALSE(has(3 * kRegion + 50)) << "beyond the mapping";
}

TEST_F(ResidencyTest, WhereAPartIsMissingTheExactRangeDecides) {
    map->missing = 5000;
    EXPECT_TRUE(has(0));
    EXPECT_FALSE(has(4950));
    EXPECT_EQ(map->asked, 3) << "the region once, and each range";
    map->missing = SIZE_MAX;
    now += Residency::kPartialFor;
    EXPECT_TRUE(has(4950)) << "it was read meanwhile";
    EXPECT_EQ(map->asked, 4);
    EXPECT_TRUE(has(0));
    EXPECT_EQ(map->asked, 4);
}

TEST_F(ResidencyTest, WhatWasNeverWrittenDoesNotMakeARegionLookMissing) {
    map->missing = 5000;
    EXPECT_TRUE(has(0, 100, 4000));
    EXPECT_TRUE(has(200, 100, 4000));
    EXPECT_EQ(map->asked, 1);
}

}  // namespace
}  // namespace patchbay::mmapstore
