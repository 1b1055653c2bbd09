// Proves: look-ups run on a thread of their own, in order, and a stop does not wait for one that hangs. How: a look-up that the test
// holds. Left to others: what the system's resolver answers.
#include "server/Resolver.h"

#include <gtest/gtest.h>

#include <future>
#include <vector>

namespace patchbay::kernel {
namespace {

Result<SocketAddress> local(const std::string&) {
    return SocketAddress::v4({127, 0, 0, 1}, 1);
}

TEST(Resolver, AnswersInTheOrderOfAsking) {
    std::promise<std::vector<int>> all;
    std::vector<int> order;
    Resolver resolver(local);
    for (int i = 0; i < 3; ++i) {
        resolver.resolve("name:1", [&, i](Result<SocketAddress> found) {
            EXPECT_TRUE(found);
            order.push_back(i);
            if (i == 2) all.set_value(order);
        });
    }
    EXPECT_EQ(all.get_future().get(), (std::vector<int>{0, 1, 2}));
}

TEST(Resolver, DoesNotWaitForALookUpThatHangs) {
    auto release = std::make_shared<std::promise<void>>();
    auto begun = std::make_shared<std::promise<void>>();
    auto owned = std::make_shared<int>(1);
    auto resolver = std::make_unique<Resolver>([begun, held = release->get_future().share()](const std::string&) -> Result<SocketAddress> {
        begun->set_value();
        held.wait();
        return local({});
    });
    resolver->resolve("slow:1", [owned](Result<SocketAddress>) { FAIL() << "nobody is to be told"; });
    resolver->resolve("slow:2", [owned](Result<SocketAddress>) { FAIL() << "nobody is to be told"; });
    begun->get_future().wait();
    resolver->stop();
    EXPECT_EQ(owned.use_count(), 1) << "what was asked for is gone";
    resolver.reset();
    release->set_value();
}

TEST(Resolver, SaysWhatIsWrongWithAName) {
    std::promise<Status> answer;
    Resolver resolver;
    resolver.resolve("no port", [&](Result<SocketAddress> found) { answer.set_value(found.error()); });
    EXPECT_EQ(answer.get_future().get().code(), StatusCode::InvalidArgument);
}

}  // namespace
}  // namespace patchbay::kernel
