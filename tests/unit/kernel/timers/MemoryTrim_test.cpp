// Proved: memory is given back when much of it was free at two looks, and then resident memory shrinks.
// How: numbers that the test chooses, and blocks of the real allocator with one in use above them.
// Left to others: when it is looked at (kernel/app).
#include "timers/MemoryTrim.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <malloc.h>
#include <memory>
#include <vector>

namespace patchbay::kernel {
namespace {

TEST(MemoryTrim, WhatIsFreeAtTwoLooksIsGivenBack) {
    std::size_t idle = 0;
    int trims = 0;
    MemoryTrim trim([&] { return idle; }, [&] { ++trims; });
    EXPECT_FALSE(trim.look());
    idle = MemoryTrim::kWorth;
    EXPECT_FALSE(trim.look());  // may be used again at once
    idle = MemoryTrim::kWorth - 1;
    EXPECT_FALSE(trim.look());
    idle = MemoryTrim::kWorth;
    EXPECT_FALSE(trim.look());
    EXPECT_EQ(trims, 0);
    EXPECT_TRUE(trim.look());
    EXPECT_FALSE(trim.look());
    EXPECT_TRUE(trim.look());
    EXPECT_EQ(trims, 2);
}

TEST(MemoryTrim, ResidentMemoryShrinks) {
    const auto resident = [] {
        std::size_t pages = 0;
        std::ifstream("/proc/self/statm") >> pages >> pages;
        return pages * 4096;
    };
    std::vector<std::unique_ptr<char[]>> blocks;
    for (int i = 0; i < 3'000; ++i) {
        blocks.push_back(std::make_unique_for_overwrite<char[]>(60'000));
        std::memset(blocks.back().get(), 1, 60'000);
    }
    blocks.erase(blocks.begin(), blocks.end() - 1);
    if (::mallinfo2().fordblks < 2 * MemoryTrim::kWorth) GTEST_SKIP() << "another allocator";
    const auto before = resident();
    MemoryTrim trim;
    EXPECT_FALSE(trim.look());
    EXPECT_TRUE(trim.look());
    EXPECT_LT(resident() + MemoryTrim::kWorth, before);
    // Free it still is, but not resident any more.
    EXPECT_FALSE(trim.look());
    EXPECT_FALSE(trim.look());
}

}  // namespace
}  // namespace patchbay::kernel
