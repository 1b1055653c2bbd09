// Stores: a suite that runs on every store a broker can have.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace patchbay::test {

/// The plugins that store messages.
inline const std::array<std::string, 2> kStores{"storage-mmap", "storage-sqlite"};

/// The line of a configuration that chooses a plugin as the store.
inline std::string onStore(const std::string& plugin) { return "service.patchbay.MessageStore = " + plugin + "\n"; }

/// "mmap" of "storage-mmap", as the name of a test.
inline std::string storeName(const ::testing::TestParamInfo<std::string>& store) { return store.param.substr(store.param.find('-') + 1); }

/// Parameter: the plugin that stores messages.
using OnEachStore = ::testing::TestWithParam<std::string>;

}  // namespace patchbay::test

/// Instantiates a suite whose parameter is the plugin that stores messages.
#define PATCHBAY_ON_EACH_STORE(Suite) \
    INSTANTIATE_TEST_SUITE_P(Stores, Suite, ::testing::ValuesIn(::patchbay::test::kStores), ::patchbay::test::storeName)
