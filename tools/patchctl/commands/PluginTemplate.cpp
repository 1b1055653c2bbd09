#include "commands/PluginTemplate.h"

namespace patchbay::patchctl {

namespace {

constexpr std::string_view kCode = R"code(// @NAME@: answers request code @CODE@.
#include "patchbay/plugin/Plugin.h"

#include <string>
#include <utility>

namespace {

using namespace patchbay;

constexpr plugin::ConfigKey kKeys[] = {
    {"@KEY@Text", plugin::ConfigType::Text, "hello", "What is answered."},
};

class @CLASS@ final : public plugin::Plugin, private plugin::Processor {
public:
    std::span<const plugin::ConfigKey> configKeys() const noexcept override { return kKeys; }

    // Check here what the type of a key cannot say.
    Status configure(const plugin::ConfigView& config) override {
        text_ = config.text("@KEY@Text");
        return Status::ok();
    }

    // Borrow services, bind codes, make counters. Nothing is served yet.
    Status init(plugin::PluginContext& context) override {
        answered_ = &context.metrics().counter("@KEY@_answered_total", "Requests that were answered.");
        static constexpr protocol::RequestCode kCodes[] = {static_cast<protocol::RequestCode>(@CODE@)};
        plugin::BindOptions options;
        options.loopSafe = true;
        return context.processors().bind(kCodes, *this, options);
    }

private:
    // On any I/O loop, several at once: what it reads does not change, what it changes is atomic.
    void process(plugin::Request request) override {
        answered_->add();
        plugin::Response response;
        response.setBody(text_);
        std::move(request).respond(std::move(response));
    }

    std::string text_;
    plugin::Counter* answered_ = nullptr;
};

}  // namespace

PATCHBAY_PLUGIN(@CLASS@, "@NAME@", "1.0.0", "Answers request code @CODE@.", patchbay::plugin::kConcurrentGenerations, "", "", "")
)code";

constexpr std::string_view kBuild = R"code(cmake_minimum_required(VERSION 3.25)
project(@NAME@ LANGUAGES CXX)
find_package(Patchbay REQUIRED)
patchbay_add_plugin(@NAME@)
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
    return {{"plugin.cpp", fill(kCode, name, code)},
            {"CMakeLists.txt", fill(kBuild, name, code)},
            {std::string(name) + ".conf", fill(kConfiguration, name, code)}};
}

}  // namespace patchbay::patchctl
