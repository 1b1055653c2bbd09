// Proves: which of several addresses is advertised, and that the reason names it. How: invented machines.
// Left to others: what this machine has (machineAddresses is a reader of the operating system).
#include "config/Advertise.h"

#include <gtest/gtest.h>

namespace patchbay::kernel {
namespace {

const InterfaceAddress kLoopback{"lo", "127.0.0.1", false, true, false};
const InterfaceAddress kDocker{"docker0", "172.17.0.1", false, false, false};
const InterfaceAddress kPlain{"eth1", "192.168.1.4", false, false, false};
const InterfaceAddress kRouted{"eth0", "10.0.0.5", false, false, true};
const InterfaceAddress kV6{"eth0", "2001:db8::5", true, false, true};

TEST(Advertise, FollowsTheConfigurationFirst) {
    const auto chosen = chooseAdvertised("1.2.3.4", "10.0.0.5", {kRouted});
    EXPECT_EQ(chosen.ip, "1.2.3.4");
    EXPECT_EQ(chosen.reason, "brokerIP1 says so");
    EXPECT_EQ(chooseAdvertised("", "127.0.0.1", {kRouted}).ip, "127.0.0.1");
}

TEST(Advertise, PrefersTheDefaultRouteAndNamesTheOthers) {
    const auto chosen = chooseAdvertised("", "0.0.0.0", {kLoopback, kDocker, kPlain, kV6, kRouted});
    EXPECT_EQ(chosen.ip, "10.0.0.5");
    EXPECT_EQ(chosen.reason,
              "address of eth0, which has the default route; there are also 192.168.1.4 of eth1, 172.17.0.1 of docker0: set brokerIP1 to "
              "advertise another");
}

TEST(Advertise, TakesBridgesAndLoopbackOnlyWhenThereIsNothingElse) {
    EXPECT_EQ(chooseAdvertised("", "0.0.0.0", {kLoopback, kDocker, kPlain}).ip, "192.168.1.4");
    EXPECT_EQ(chooseAdvertised("", "0.0.0.0", {kLoopback, kDocker}).ip, "172.17.0.1");
    EXPECT_EQ(chooseAdvertised("", "0.0.0.0", {kLoopback}).ip, "127.0.0.1");
    EXPECT_NE(chooseAdvertised("", "0.0.0.0", {kLoopback}).reason.find("only local clients"), std::string::npos);
    EXPECT_EQ(chooseAdvertised("", "0.0.0.0", {}).ip, "127.0.0.1");
}

TEST(Advertise, TheOwnNameServerIsOneOfThoseThatAreRegisteredAt) {
    const std::vector<InterfaceAddress> machine{kLoopback, kRouted, kV6};
    EXPECT_EQ(withOwnNameServer("", "0.0.0.0", 9876, machine), "127.0.0.1:9876");
    EXPECT_EQ(withOwnNameServer("ns:9876", "0.0.0.0", 9876, machine), "ns:9876;127.0.0.1:9876");
    EXPECT_EQ(withOwnNameServer("ns:9876;", "10.0.0.5", 9876, machine), "ns:9876;10.0.0.5:9876");
    EXPECT_EQ(withOwnNameServer("", "2001:db8::5", 9876, machine), "[2001:db8::5]:9876");
    for (const char* list : {"127.0.0.1:9876", "a:1;localhost:9876", "10.0.0.5:9876;a:1", "a:1;[2001:db8::5]:9876"}) {
        EXPECT_EQ(withOwnNameServer(list, "::", 9876, machine), list);
    }
    EXPECT_EQ(withOwnNameServer("10.0.0.5:9877", "0.0.0.0", 9876, machine), "10.0.0.5:9877;127.0.0.1:9876") << "another port is another server";
}

}  // namespace
}  // namespace patchbay::kernel
