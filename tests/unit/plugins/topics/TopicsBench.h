// The topics plugin on a fake kernel and a directory of its own, restarted as often as a test likes.
#pragma once

#include "../Recorded.h"

#include "TopicsPlugin.h"

#include "patchbay/testkit/FaultyFiles.h"
#include "patchbay/testkit/FakeContext.h"
#include "patchbay/testkit/PluginRunner.h"
#include "patchbay/testkit/TempDir.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace patchbay::plugins::topics {

inline std::string recordedFile(const std::string& fixture, const std::string& name) {
    return recorded::readText(std::string(PATCHBAY_TEST_DATA) + "/config/" + fixture + "/" + name);
}

/// The lines of a configuration file without what depends on the order of entries or on the time.
inline std::vector<std::string> normalized(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
        if (!line.empty() && line.back() == ',') line.pop_back();
        if (line.find("\"counter\"") != std::string::npos || line.find("\"timestamp\"") != std::string::npos) continue;
        lines.push_back(line);
    }
    std::sort(lines.begin(), lines.end());
    return lines;
}

/// A broker "fix" of "FixCluster".
struct TopicsBench {
    explicit TopicsBench(testkit::Settings with = {}) : settings(std::move(with)) {
        context.brokerIdentity().clusterName = "FixCluster";
        context.brokerIdentity().brokerName = "fix";
        context.brokerIdentity().storeRoot = directory.path();
        std::filesystem::create_directories(directory.path() + "/config");
    }
    ~TopicsBench() { stop(); }

    Status tryStart() {
        runner = std::make_unique<testkit::PluginRunner>(context);
        plugin = &runner->add<TopicsPlugin>(settings);
        return runner->start();
    }
    void start() {
        const Status started = tryStart();
        ASSERT_TRUE(started) << started.toString();
    }
    void stop() {
        runner.reset();
        context.forgetPlugins();
    }
    /// Goes on with what the disk holds now, as after kill -9.
    void killAndStart() {
        const std::string kept = copies.file("kept" + std::to_string(++kills));
        std::filesystem::copy(directory.path(), kept, std::filesystem::copy_options::recursive);
        stop();
        std::filesystem::remove_all(directory.path() + "/config");
        std::filesystem::copy(kept, directory.path(), std::filesystem::copy_options::recursive);
        start();
    }

    [[nodiscard]] service::TopicConfigs& topics() { return recorded::provided<service::TopicConfigs>(context); }
    [[nodiscard]] service::SubscriptionGroups& groups() { return recorded::provided<service::SubscriptionGroups>(context); }
    [[nodiscard]] bool has(std::string_view topic) {
        service::TopicFacts facts;
        return topics().find(topic, facts);
    }
    Result<service::TopicFacts> send(std::string_view topic, std::string_view defaultTopic = "TBW102", std::int32_t queues = 4) {
        service::TopicWish wish;
        wish.topic = topic;
        wish.defaultTopic = defaultTopic;
        wish.queueNums = queues;
        wish.client = "127.0.0.1:1";
        return topics().createForSend(wish);
    }
    [[nodiscard]] std::string path(const std::string& name) const { return directory.path() + "/config/" + name; }
    [[nodiscard]] std::string read(const std::string& name) const { return recorded::readText(path(name)); }
    void write(const std::string& name, std::string_view text) const { recorded::writeText(path(name), text); }
    [[nodiscard]] bool exists(const std::string& name) const { return std::filesystem::exists(path(name)); }

    testkit::TempDir directory;
    testkit::TempDir copies;
    testkit::FaultyFiles files{systemFiles()};
    testkit::FakeContext context{files};
    testkit::Settings settings;
    std::unique_ptr<testkit::PluginRunner> runner;
    TopicsPlugin* plugin = nullptr;
    int kills = 0;
};

inline protocol::TopicConfig topicNamed(std::string name, std::int32_t queues = 4) {
    protocol::TopicConfig config;
    config.topicName = std::move(name);
    config.readQueueNums = config.writeQueueNums = queues;
    return config;
}

}  // namespace patchbay::plugins::topics
