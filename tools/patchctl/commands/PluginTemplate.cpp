#include "commands/PluginTemplate.h"

namespace patchbay::patchctl {

namespace {

constexpr std::string_view kMain = R"code(#include "@CLASS@.h"

// Name, version, what it does, flags, and the services that it provides, requires and wants.
PATCHBAY_PLUGIN(@CLASS@, "@NAME@", "1.0.0", "Answers request code @CODE@.", patchbay::plugin::kConcurrentGenerations, "", "", "")
)code";

constexpr std::string_view kHeader = R"code(// @CLASS@: answers request code @CODE@.
#pragma once

#include "patchbay/plugin/Plugin.h"

#include <string>

/// Owned by the kernel; one object for each generation.
class @CLASS@ final : public patchbay::plugin::Plugin, private patchbay::plugin::Processor {
public:
    std::span<const patchbay::plugin::ConfigKey> configKeys() const noexcept override;
    patchbay::Status configure(const patchbay::plugin::ConfigView& config) override;
    patchbay::Status init(patchbay::plugin::PluginContext& context) override;

private:
    void process(patchbay::plugin::Request request) override;

    std::string text_;
    patchbay::plugin::Counter* answered_ = nullptr;
};
)code";

constexpr std::string_view kCode = R"code(#include "@CLASS@.h"

#include <utility>

namespace plugin = patchbay::plugin;
namespace protocol = patchbay::protocol;

namespace {

constexpr plugin::ConfigKey kKeys[] = {
    {"@KEY@Text", plugin::ConfigType::Text, "hello", "What is answered."},
};

constexpr protocol::RequestCode kCodes[] = {static_cast<protocol::RequestCode>(@CODE@)};

}  // namespace

std::span<const plugin::ConfigKey> @CLASS@::configKeys() const noexcept { return kKeys; }

// Check here what the type of a key cannot say.
patchbay::Status @CLASS@::configure(const plugin::ConfigView& config) {
    text_ = config.text("@KEY@Text");
    return patchbay::Status::ok();
}

// Borrow services, bind codes, make counters. Nothing is served yet.
patchbay::Status @CLASS@::init(plugin::PluginContext& context) {
    answered_ = &context.metrics().counter("@KEY@_answered_total", "Requests that were answered.");
    plugin::BindOptions options;
    options.loopSafe = true;
    return context.processors().bind(kCodes, *this, options);
}

// On any I/O loop, several at once: what it reads does not change, what it changes is atomic.
void @CLASS@::process(plugin::Request request) {
    answered_->add();
    plugin::Response response;
    response.setBody(text_);
    std::move(request).respond(std::move(response));
}
)code";

constexpr std::string_view kTest = R"code(#include "@CLASS@.h"

#include "patchbay/testkit/FakeContext.h"
#include "patchbay/testkit/PluginRunner.h"

#include <gtest/gtest.h>

TEST(@CLASS@Plugin, AnswersWithItsText) {
    patchbay::testkit::FakeContext context;
    patchbay::testkit::PluginRunner runner(context);
    runner.add<@CLASS@>({{"@KEY@Text", "good morning"}});
    ASSERT_TRUE(runner.start());
    const auto answer = context.call(static_cast<patchbay::protocol::RequestCode>(@CODE@));
    ASSERT_TRUE(answer.answered());
    EXPECT_EQ(answer.body(), "good morning");
}
)code";

constexpr std::string_view kBuild = R"code(cmake_minimum_required(VERSION 3.25)
project(@NAME@ LANGUAGES CXX)
find_package(Patchbay REQUIRED)
enable_testing()
patchbay_add_plugin(@NAME@ SOURCES @CLASS@.cpp)
patchbay_add_plugin_test(@NAME@ SOURCES @CLASS@_test.cpp)
)code";

constexpr std::string_view kConfiguration = R"code(plugin  = @NAME@
enabled = true
roles   = broker

#@KEY@Text = hello
)code";

/// "rate-limit" as "RateLimit" or "rateLimit".
std::string camel(std::string_view name, bool upper) {
    std::string text;
    for (const char c : name) {
        if (c == '-') {
            upper = true;
            continue;
        }
        text += upper && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
        upper = false;
    }
    return text;
}

std::string fill(std::string_view text, std::string_view name, std::int32_t code) {
    std::string out;
    while (!text.empty()) {
        const auto at = text.find('@');
        out += text.substr(0, at);
        if (at == std::string_view::npos) break;
        const auto end = text.find('@', at + 1);
        const std::string_view word = text.substr(at + 1, end - at - 1);
        if (word == "NAME") out += name;
        if (word == "CLASS") out += camel(name, true);
        if (word == "KEY") out += camel(name, false);
        if (word == "CODE") out += std::to_string(code);
        text.remove_prefix(end + 1);
    }
    return out;
}

}  // namespace

std::vector<TemplateFile> pluginTemplate(std::string_view name, std::int32_t code) {
    const std::string type = camel(name, true);
    return {{"plugin.cpp", fill(kMain, name, code)},
            {type + ".h", fill(kHeader, name, code)},
            {type + ".cpp", fill(kCode, name, code)},
            {type + "_test.cpp", fill(kTest, name, code)},
            {"CMakeLists.txt", fill(kBuild, name, code)},
            {std::string(name) + ".conf", fill(kConfiguration, name, code)}};
}

}  // namespace patchbay::patchctl
