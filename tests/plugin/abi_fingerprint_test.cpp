// Proves: nobody changes the layout of a type that crosses the border between kernel and plugins without noticing.
// How: sizes and offsets against a checked-in text. When it fails on purpose, raise kApiMajor (or kApiMinor, for a function added at an
// end) in plugin/Manifest.h and replace abi_fingerprint.txt by what the failure prints. Left to others: meaning.
#include "patchbay/plugin/Plugin.h"
#include "patchbay/service/MessageStore.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <fstream>
#include <sstream>

namespace patchbay {
namespace {

#pragma GCC diagnostic ignored "-Winvalid-offsetof"

std::string fingerprint() {
    using namespace plugin;
    std::ostringstream out;
    out << "API " << kApiMajor << "." << kApiMinor << "\n";
#define SIZE(type) out << #type << " size " << sizeof(type) << " align " << alignof(type) << "\n"
#define AT(type, member) out << "  " << #type << "." << #member << " at " << offsetof(type, member) << "\n"
    SIZE(Manifest);
    AT(Manifest, flags);
    AT(Manifest, abi);
    AT(Manifest, name);
    AT(Manifest, provides);
    AT(Manifest, wants);
    SIZE(Status);
    SIZE(Result<void*>);
    SIZE(RefCounted);
    SIZE(KeepAlive);
    SIZE(Slice);
    AT(Slice, keep);
    SIZE(SocketAddress);
    SIZE(ConfigKey);
    AT(ConfigKey, defaultValue);
    AT(ConfigKey, flags);
    AT(ConfigKey, min);
    AT(ConfigKey, aliases);
    AT(ConfigKey, choices);
    SIZE(ConfigEntry);
    AT(ConfigEntry, value);
    AT(ConfigEntry, reloadable);
    SIZE(LogField);
    SIZE(ServiceId);
    AT(ServiceId, version);
    SIZE(Lease);
    SIZE(ServiceRef<service::MessageStore>);
    SIZE(protocol::CommandView);
    SIZE(protocol::FieldList);
    SIZE(protocol::RemotingCommand);
    SIZE(RequestCore);
    AT(RequestCore, command);
    AT(RequestCore, peer);
    AT(RequestCore, received);
    AT(RequestCore, lane);
    AT(RequestCore, deferred);
    SIZE(Request);
    SIZE(Response);
    AT(Response, remark);
    AT(Response, hasFields);
    AT(Response, body);
    AT(Response, keep);
    SIZE(ExecutorSpec);
    AT(ExecutorSpec, queueCapacity);
    AT(ExecutorSpec, maxQueueWait);
    SIZE(BindOptions);
    AT(BindOptions, executor);
    SIZE(Interception);
    SIZE(Verdict);
    SIZE(Counter);
    SIZE(BrokerIdentity);
    AT(BrokerIdentity, brokerPort);
    AT(BrokerIdentity, storeHost);
    AT(BrokerIdentity, storeRoot);
    AT(BrokerIdentity, startedWallMs);
    SIZE(DiskSpace);
    SIZE(FileInfo);
#undef SIZE
#undef AT
    return out.str();
}

TEST(AbiFingerprint, IsWhatWasReleased) {
#if defined(__SANITIZE_ADDRESS__) || defined(_GLIBCXX_DEBUG) || !defined(__x86_64__)
    GTEST_SKIP() << "the text is of the plain x86-64 build";
#endif
    std::ifstream file(PATCHBAY_FINGERPRINT);
    std::ostringstream released;
    released << file.rdbuf();
    EXPECT_EQ(fingerprint(), released.str()) << "now:\n" << fingerprint();
}

}  // namespace
}  // namespace patchbay
