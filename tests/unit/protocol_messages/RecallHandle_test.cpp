// Proved: recall handles are written as RocketMQ writes them and read back, and nothing else is taken for one.
// How: a handle as Java's Base64 encoder makes it, and broken ones.
// Left to others: what a recall does (timer), the whole way with Java's client (interop).
#include "patchbay/protocol/message/RecallHandle.h"

#include <gtest/gtest.h>

namespace patchbay::protocol {
namespace {

TEST(RecallHandle, IsWrittenAsJavaWritesIt) {
    // `v1 T broker-a 1700000000001 0A0B` by java.util.Base64.getUrlEncoder().
    const RecallHandle handle{"T", "broker-a", 1'700'000'000'001, "0A0B"};
    EXPECT_EQ(handle.encode(), "djEgVCBicm9rZXItYSAxNzAwMDAwMDAwMDAxIDBBMEI=");
}

TEST(RecallHandle, IsReadBackWithAndWithoutPadding) {
    for (const std::string key : {"A", "AB", "ABC", "\xC3\xBC~?"}) {
        const RecallHandle handle{"Topic", "b", 42, key};
        std::string text = handle.encode();
        for (int i = 0; i < 2; ++i) {
            const auto back = RecallHandle::decode(text);
            ASSERT_TRUE(back) << text;
            EXPECT_EQ(back->topic, "Topic");
            EXPECT_EQ(back->brokerName, "b");
            EXPECT_EQ(back->deliverMs, 42);
            EXPECT_EQ(back->uniqueKey, key);
            while (text.back() == '=') text.pop_back();
        }
    }
}

TEST(RecallHandle, AnythingElseIsRefused) {
    for (const std::string text : {"", "=", "djE", "djEgVCBi", "!!!!", "djEgVCBicm9rZXItYSB4IDBB" /* time x */,
                                   "djIgVCBicm9rZXItYSAxIDBB" /* v2 */, "djEgVCBicm9rZXItYSAxIA==" /* no key */}) {
        EXPECT_EQ(RecallHandle::decode(text).error().code(), StatusCode::InvalidArgument) << text;
    }
}

}  // namespace
}  // namespace patchbay::protocol
