// Proves: a plugin gets exactly the interface that was published, only what its manifest names, and a lease keeps the provider's
// generation in use and is listed until its last copy goes. How: two invented plugins. Left to others: when providers stop (PluginHost).
#include "plugin/ServiceRegistry.h"

#include <gtest/gtest.h>

namespace patchbay::kernel {
namespace {

struct Other {
    virtual ~Other() = default;
    int padding = 7;
};
struct Store {
    static constexpr plugin::ServiceId kId{"test.Store", 1};
    virtual ~Store() = default;
    virtual int answer() = 0;
};
struct Unnamed {
    static constexpr plugin::ServiceId kId{"test.Unnamed", 1};
};
struct Provider final : Other, Store {
    int answer() override { return 42; }
};

class ServiceRegistryTest : public ::testing::Test {
protected:
    ServiceRegistryTest() {
        store_.name = "mmap";
        store_.provides = {"test.Store/1", "test.More/1"};
        user_.name = "pull";
        user_.requires_ = {"test.Store/1"};
    }

    ServiceRegistry registry_;
    PluginDescription store_;
    PluginDescription user_;
    Ref<Generation> storeGeneration_ = Ref<Generation>::adopt(new Generation("mmap", 1));
    Ref<Generation> userGeneration_ = Ref<Generation>::adopt(new Generation("pull", 1));
    PluginServices offers_{registry_, store_, storeGeneration_};
    PluginServices uses_{registry_, user_, userGeneration_};
    Provider provider_;
};

TEST_F(ServiceRegistryTest, LendsTheVeryInterface) {
    ASSERT_TRUE(static_cast<plugin::Services&>(offers_).publish<Store>(provider_));
    const auto store = static_cast<plugin::Services&>(uses_).require<Store>();
    ASSERT_TRUE(store) << store.error().toString();
    EXPECT_EQ((**store).answer(), 42);
    EXPECT_EQ(offers_.missing(), std::vector<std::string>{"test.More/1"});
}

TEST_F(ServiceRegistryTest, RefusesWhatTheManifestDoesNotName) {
    plugin::Services& offers = offers_;
    plugin::Services& uses = uses_;
    Unnamed thing;
    EXPECT_EQ(offers.publish<Unnamed>(thing).code(), StatusCode::Denied);
    EXPECT_EQ(uses.require<Unnamed>().error().code(), StatusCode::Denied);
    EXPECT_EQ(uses.publish<Store>(provider_).code(), StatusCode::Denied);
}

TEST_F(ServiceRegistryTest, SaysWhoProvidesWhatIsPublishedTwiceAndWhatNobodyProvides) {
    plugin::Services& uses = uses_;
    EXPECT_EQ(uses.require<Store>().error().message(), "nobody provides service test.Store/1");
    EXPECT_FALSE(uses.want<Store>());
    plugin::Services& offers = offers_;
    ASSERT_TRUE(offers.publish<Store>(provider_));
    EXPECT_EQ(offers.publish<Store>(provider_).message(), "service test.Store/1 is provided by mmap");
}

TEST_F(ServiceRegistryTest, KeepsTheGenerationInUseWhileALeaseIsOut) {
    ASSERT_TRUE(static_cast<plugin::Services&>(offers_).publish<Store>(provider_));
    auto store = static_cast<plugin::Services&>(uses_).want<Store>();
    auto copy = store;
    offers_.close();
    EXPECT_FALSE(storeGeneration_->idle());
    EXPECT_EQ(registry_.holders(*storeGeneration_), std::vector<std::string>{"pull (test.Store/1)"});
    store.reset();
    EXPECT_FALSE(storeGeneration_->idle());
    EXPECT_EQ(copy->answer(), 42);
    copy.reset();
    EXPECT_TRUE(storeGeneration_->idle());
    EXPECT_TRUE(registry_.holders(*storeGeneration_).empty());
}

TEST_F(ServiceRegistryTest, RefusesEverythingAfterTheStop) {
    offers_.close();
    EXPECT_EQ(static_cast<plugin::Services&>(offers_).publish<Store>(provider_).code(), StatusCode::Unavailable);
    uses_.close();
    EXPECT_EQ(static_cast<plugin::Services&>(uses_).require<Store>().error().code(), StatusCode::Unavailable);
}

}  // namespace
}  // namespace patchbay::kernel
