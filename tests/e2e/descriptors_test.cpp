// Proves: files that a store may keep open count as needed when the process looks at the limit of open files.
// How: the built executable under a lower limit, which the test gives itself before.
// Left to others: what happens when descriptors run out all the same (integration/server).
#include "support/BrokerProcess.h"

#include <csignal>
#include <gtest/gtest.h>
#include <sys/resource.h>

namespace patchbay::test {
namespace {

// One store: the other has no files of queues.
TEST(Descriptors, FilesOfQueuesCountAsNeeded) {
    const rlimit few{2000, 2000};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
    BrokerProcess usual("serverConnectionsMax = 900\n");
    EXPECT_TRUE(usual.start()) << usual.output();
    EXPECT_EQ(usual.stop(SIGTERM), 0);
    BrokerProcess wide("serverConnectionsMax = 900\nconsumeQueueFilesOpenMax = 1000\n");
    const RunResult refused = wide.run();
    EXPECT_EQ(refused.exitCode, 78);
    EXPECT_NE(refused.err.find("serverConnectionsMax 900 needs 2668 open files, the limit is 2000"), std::string::npos) << refused.err;
}

}  // namespace
}  // namespace patchbay::test
