// Proves: the kernel's keys become settings, and addresses, ports and identity that could not work are refused with their place.
// How: main files on a disk in memory. Left to others: types (ConfigValues), the choice of an address (Advertise).
#include "config/KernelSettings.h"

#include "support/MemoryFiles.h"

#include <gtest/gtest.h>

namespace patchbay::kernel {
namespace {

class KernelSettingsTest : public ::testing::Test {
protected:
    KernelSettings read(std::string_view text) {
        (void)files_.makeDirectories("/etc/p");
        auto file = files_.open("/etc/p/b.conf", OpenMode::Create);
        EXPECT_TRUE(file && (*file)->truncate(0) && (*file)->writeAt(text, 0));
        problems_ = {};
        const auto sources = ConfigSources::read(files_, "/etc/p/b.conf", {}, "/work", problems_);
        const auto values = ConfigValues::resolve(kernelKeys(), sources.common(), "/work", "kernel", problems_);
        return KernelSettings::from(values, sources, around_, problems_);
    }

    void refuses(const std::string& line, const std::string& problem) {
        read("# a file\n" + line + "\n");
        ASSERT_EQ(problems_.size(), 1U) << line << "\n" << problems_.toString();
        EXPECT_EQ(problems_.list()[0].toString(), problem);
    }

    test::MemoryFiles files_;
    Problems problems_;
    Surroundings around_{"/opt/bin", "host7", ""};
};

TEST_F(KernelSettingsTest, IsAStandaloneByDefault) {
    const auto settings = read("");
    EXPECT_TRUE(problems_.empty()) << problems_.toString();
    EXPECT_TRUE(settings.hasNamesrv && settings.hasBroker);
    EXPECT_EQ(settings.brokerPort, 10911);
    EXPECT_EQ(settings.namesrvPort, 9876);
    EXPECT_EQ(settings.brokerName, "host7");
    EXPECT_EQ(settings.pluginConfigDirectory, "/etc/p/plugins.d");
    EXPECT_EQ(settings.runDirectory, settings.storeRoot + "/run");
    EXPECT_EQ(settings.limits.idle, std::chrono::seconds(120));
}

TEST_F(KernelSettingsTest, TakesListenPortForTheNameServerWhereThereIsNoBroker) {
    EXPECT_EQ(read("roles = namesrv\nlistenPort = 19876\n").namesrvPort, 19876);
    EXPECT_EQ(read("roles = namesrv\n").namesrvPort, 9876);
    EXPECT_EQ(read("roles = namesrv broker\nlistenPort = 1\n").namesrvPort, 9876);
}

TEST_F(KernelSettingsTest, RefusesAddressesThatCouldNotWork) {
    refuses("brokerIP1=10.0.0.5 #note", "PB-1202 /etc/p/b.conf:2: brokerIP1: a comment must stand on a line of its own: '10.0.0.5 #note'");
    refuses("brokerIP1= ", "PB-1208 /etc/p/b.conf:2: brokerIP1: '' is not an address or host name that clients could use");
    refuses("brokerIP1=10.0.0.5;10.0.0.6", "PB-1208 /etc/p/b.conf:2: brokerIP1: '10.0.0.5;10.0.0.6' is not an address or host name that clients could use");
    refuses("brokerIP1=10.0.0.5:10911", "PB-1208 /etc/p/b.conf:2: brokerIP1: '10.0.0.5:10911' is not an address or host name that clients could use");
    refuses("brokerIP1=10.0.0.256", "PB-1208 /etc/p/b.conf:2: brokerIP1: '10.0.0.256' is not an address or host name that clients could use");
    refuses("brokerIP1=0.0.0.0", "PB-1208 /etc/p/b.conf:2: brokerIP1: '0.0.0.0' is not an address or host name that clients could use");
    refuses("bindAddress=localhost", "PB-1208 /etc/p/b.conf:2: bindAddress: 'localhost' is not a numeric address");
    refuses("namesrvAddr=10.0.0.5", "PB-1208 /etc/p/b.conf:2: namesrvAddr: '10.0.0.5' is not host:port");
    refuses("namesrvAddr=a:1;b:99999", "PB-1208 /etc/p/b.conf:2: namesrvAddr: 'b:99999' is not host:port");
}

TEST_F(KernelSettingsTest, TakesAddressesNamesAndBothSeparators) {
    EXPECT_EQ(read("brokerIP1:10.0.0.5\r\n").brokerIp1, "10.0.0.5");
    EXPECT_EQ(read("brokerIP1 = mq_1.example\n").brokerIp1, "mq_1.example");
    EXPECT_EQ(read("brokerIP1 = 2001:db8::1\n").brokerIp1, "2001:db8::1");
    EXPECT_EQ(read("namesrvAddr = a:9876;10.0.0.2:9876;\n").namesrvAddr, "a:9876;10.0.0.2:9876;");
    EXPECT_TRUE(problems_.empty()) << problems_.toString();
}

TEST_F(KernelSettingsTest, RefusesOnePortForTwoListenersAndAMasterWithASlavesNumber) {
    refuses("listenPort = 9876", "PB-1208 /etc/p/b.conf:2: listenPort and namesrv.listenPort are both 9876");
    refuses("brokerId = 1", "PB-1209 /etc/p/b.conf:2: brokerId: 1 is for slaves, but brokerRole is ASYNC_MASTER; a master has 0");
    refuses("brokerRole = SLAVE", "PB-1207 /etc/p/b.conf:2: brokerRole: 'SLAVE' is none of: ASYNC_MASTER, SYNC_MASTER");
    refuses("roles = broker proxy", "PB-1207 /etc/p/b.conf:2: roles: 'proxy' is none of: namesrv, broker");
}

TEST_F(KernelSettingsTest, RefusesBrokerNamesThatBreakLaterAndTakesTheRest) {
    refuses("brokerName = broker a", "PB-1209 /etc/p/b.conf:2: brokerName: 'broker a' holds a blank or a control character");
    refuses("brokerName = broker\\u0001a", "PB-1209 /etc/p/b.conf:2: brokerName: 'broker?a' holds a blank or a control character");
    refuses("brokerName = a/b", "PB-1209 /etc/p/b.conf:2: brokerName: 'a/b' holds one of / \\ : ;");
    refuses("brokerName = a:4;b", "PB-1209 /etc/p/b.conf:2: brokerName: 'a:4;b' holds one of / \\ : ;");
    refuses("brokerName = ..", "PB-1209 /etc/p/b.conf:2: brokerName: '..' names a folder");
    for (const char* name : {"broker-a", "Broker_0.example.com", "%x|y", "b@1", "(a)#", "müller", "经纪"}) {
        EXPECT_EQ(read("brokerName = " + std::string(name) + "\n").brokerName, name);
        EXPECT_TRUE(problems_.empty()) << problems_.toString();
    }
}

TEST_F(KernelSettingsTest, HasAListenerForAdministrationOnlyWhenItHasAPort) {
    EXPECT_FALSE(read("").adminPort);
    const auto settings = read("adminListenPort = 10920\n");
    EXPECT_EQ(settings.adminPort, 10920);
    EXPECT_EQ(settings.adminBindAddress, "127.0.0.1");
    EXPECT_EQ(read("adminListenPort = 0\n").adminPort, 0);
    refuses("adminListenPort = 10911", "PB-1208 /etc/p/b.conf:2: adminListenPort: 10911 is the port of another listener");
    refuses("adminBindAddress = here", "PB-1208 /etc/p/b.conf:2: adminBindAddress: 'here' is not a numeric address");
}

TEST_F(KernelSettingsTest, UsesTheVariableOnlyForABrokerWithoutANameServer) {
    around_.namesrvAddrVariable = "ns:9876";
    EXPECT_EQ(read("roles = broker\n").namesrvAddr, "ns:9876");
    EXPECT_EQ(read("roles = broker\nnamesrvAddr = other:9876\n").namesrvAddr, "other:9876");
    EXPECT_EQ(read("").namesrvAddr, "");
}

TEST_F(KernelSettingsTest, TakesZeroWaterMarksAsRocketmqDoes) {
    const auto settings = read("writeBufferHighWaterMark = 0\nwriteBufferLowWaterMark = 0\n");
    EXPECT_EQ(settings.limits.outboundHigh, ServerLimits().outboundHigh);
    EXPECT_EQ(settings.limits.outboundLow, ServerLimits().outboundLow);
    refuses("writeBufferLowWaterMark = 8M", "PB-1206 /etc/p/b.conf:2: writeBufferLowWaterMark: 8388608 is above writeBufferHighWaterMark");
}

}  // namespace
}  // namespace patchbay::kernel
