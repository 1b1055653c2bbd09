// Proves: what is counted is told in Prometheus' text format, readiness names what is in the way, and both are served over HTTP.
// How: counts and a store of the test's own, a socket on the loopback. Left to others: that the kernel counts right (dispatch/hold_test).
#include "Exposition.h"
#include "Health.h"
#include "HttpEndpoint.h"
#include "MetricsPlugin.h"

#include "patchbay/testkit/FakeContext.h"
#include "patchbay/testkit/FakeRuntime.h"
#include "patchbay/testkit/ManualClock.h"
#include "patchbay/testkit/MemoryStore.h"
#include "support/FakeObservation.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

namespace patchbay::plugins::metrics {
namespace {

/// One request, and everything that comes until the server closes.
std::string get(std::uint16_t port, const std::string& request) {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
    EXPECT_EQ(send(fd, request.data(), request.size(), MSG_NOSIGNAL), static_cast<ssize_t>(request.size()));
    std::string all;
    char piece[4096];
    for (ssize_t count = 0; (count = recv(fd, piece, sizeof piece, 0)) > 0;) all.append(piece, static_cast<std::size_t>(count));
    close(fd);
    return all;
}

TEST(Exposition, HasCountsAndHistogramsByCodeAndPlugin) {
    test::FakeObservation observation;
    service::RequestStats one;
    one.listener = "broker";
    one.plugin = "pull";
    one.code = 11;
    one.calls = 5;
    one.answered = 3;
    one.queued = 2;
    one.latency.counts = {2, 1};
    one.latency.sumUs = 170;
    observation.requestStats = {one};
    observation.pluginFaults = {{"pull", 1, 2, 3, 4, 5, 6}};
    observation.executorStats.resize(1);
    observation.executorStats[0].name = "pull";
    observation.executorStats[0].refusedFull = 7;
    testkit::FakeMetrics counters;
    counters.counter("patchbay_something_total", "Something.").add(9);
    const auto text = exposition(observation, counters, nullptr);
    for (const char* line : {"# TYPE patchbay_code_calls_total counter\n",
                             "patchbay_code_calls_total{listener=\"broker\",plugin=\"pull\",code=\"11\"} 5\n",
                             "patchbay_code_in_work{listener=\"broker\",plugin=\"pull\",code=\"11\"} 2\n",
                             "patchbay_code_queued{listener=\"broker\",plugin=\"pull\",code=\"11\"} 2\n",
                             "patchbay_code_seconds_count{listener=\"broker\",plugin=\"pull\",code=\"11\"} 3\n",
                             "patchbay_code_seconds_bucket{listener=\"broker\",plugin=\"pull\",code=\"11\",le=\"+Inf\"} 3\n",
                             "patchbay_plugin_faults_by_kind_total{plugin=\"pull\",kind=\"dropped\"} 2\n",
                             "patchbay_executor_refused_total{executor=\"pull\",reason=\"full\"} 7\n", "patchbay_something_total 9\n"}) {
        EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text;
    }
    EXPECT_EQ(text.find("patchbay_store_"), std::string::npos) << "there is no store";
}

TEST(Exposition, HasTheStore) {
    test::FakeObservation observation;
    testkit::FakeMetrics counters;
    const testkit::ManualClock clock;
    const testkit::MemoryStore store(clock);
    EXPECT_NE(exposition(observation, counters, &store).find("patchbay_store_writable 1\n"), std::string::npos);
}

TEST(Health, SaysWhyClientsShouldNotCome) {
    test::FakeObservation observation;
    EXPECT_EQ(reasonsNotReady(observation, nullptr, {}).size(), 1U) << "not serving yet";
    observation.processStats.serving = true;
    EXPECT_TRUE(reasonsNotReady(observation, nullptr, {}).empty());
    service::StoreStats full;
    full.writable = false;
    full.health = {StatusCode::Full, "the disk is 96 % full"};
    const auto reasons = reasonsNotReady(observation, &full, {});
    ASSERT_EQ(reasons.size(), 1U);
    EXPECT_EQ(readyBody(reasons), "{\"ready\":false,\"why\":[\"the store takes no messages: the disk is 96 % full\"]}\n");
    EXPECT_EQ(readyBody({}), "{\"ready\":true,\"why\":[]}\n");
}

TEST(Health, WantsThePluginsThatClientsCannotDoWithout) {
    test::FakeObservation observation;
    observation.processStats.serving = true;
    observation.served = {{"broker", {34, 310}}};
    const NeededCodes needed{{34, 310, 11, 4711}, {105}};
    EXPECT_EQ(reasonsNotReady(observation, nullptr, needed),
              (std::vector<std::string>{"no plugin serves PULL_MESSAGE (11) on the listener 'broker'", "no plugin serves code 4711 on the listener 'broker'"}))
        << "and there is no name server here";
    observation.served["namesrv"];
    EXPECT_EQ(reasonsNotReady(observation, nullptr, needed).size(), 3U);
    EXPECT_EQ(*parseCodes("k", " 34  310 "), (std::vector<std::int32_t>{34, 310}));
    EXPECT_EQ(parseCodes("k", "34,310").error().message(), "k: '34,310' is not a request code");
}

TEST(HttpEndpoint, AnswersPathsAndRefusesOtherMethods) {
    HttpEndpoint endpoint;
    const auto port = endpoint.start("127.0.0.1", 0, [](const std::string& path) {
        return path == "/there" ? HttpAnswer{200, "text/plain", "yes\n"} : HttpAnswer{404, "text/plain", "no\n"};
    });
    ASSERT_TRUE(port) << port.error().toString();
    EXPECT_TRUE(get(*port, "GET /there?x=1 HTTP/1.1\r\nHost: h\r\n\r\n").starts_with("HTTP/1.1 200 OK\r\n"));
    EXPECT_TRUE(get(*port, "GET /there HTTP/1.1\r\nHost: h\r\n\r\n").ends_with("\r\n\r\nyes\n"));
    EXPECT_TRUE(get(*port, "GET /elsewhere HTTP/1.1\r\nHost: h\r\n\r\n").starts_with("HTTP/1.1 404"));
    EXPECT_TRUE(get(*port, "POST /there HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n").starts_with("HTTP/1.1 405"));
    EXPECT_TRUE(get(*port, "HEAD /there HTTP/1.1\r\nHost: h\r\n\r\n").ends_with("\r\n\r\n"));
    HttpEndpoint second;
    EXPECT_EQ(second.start("127.0.0.1", *port, {}).error().code(), StatusCode::Io);
    MetricsPlugin third;
    testkit::FakeContext context;
    test::FakeObservation observation;
    context.provide<service::Observation>(observation);
    const auto config = testkit::FakeConfig::parse(third.configKeys(), {{"metricsPromExporterPort", std::to_string(*port)}});
    ASSERT_TRUE(third.configure(*config));
    ASSERT_TRUE(third.init(context));
    EXPECT_EQ(third.start().message(), "cannot listen on 127.0.0.1:" + std::to_string(*port) +
                                           ": Address already in use (metricsPromExporterHost, metricsPromExporterPort)");
    third.stop();
    endpoint.stop();
    endpoint.stop();
}

TEST(MetricsPlugin, EndsWithinItsStop) {
    testkit::FakeContext context;
    test::FakeObservation observation;
    testkit::MemoryStore store(context.clock());
    context.provide<service::Observation>(observation);
    context.provide<service::MessageStore>(store);
    MetricsPlugin plugin;
    const auto config = testkit::FakeConfig::parse(plugin.configKeys(), {{"metricsPromExporterPort", "0"}});
    ASSERT_TRUE(plugin.configure(*config));
    ASSERT_TRUE(plugin.init(context));
    ASSERT_TRUE(plugin.start());
    plugin.stop();
    EXPECT_TRUE(context.log().contains("metrics are served"));
}

}  // namespace
}  // namespace patchbay::plugins::metrics
