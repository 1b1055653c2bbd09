#include "Template.h"

#include <utility>

namespace plugin_template {

using namespace patchbay;

namespace {

constexpr plugin::ConfigKey kKeys[] = {
    // Reloadable: changed while the broker runs, by reconfigure().
    {"templateGreeting", plugin::ConfigType::Text, "hello", "What is answered.", plugin::kReloadable},
};

// 30000 to 32767 are for plugins of others.
constexpr protocol::RequestCode kCodes[] = {static_cast<protocol::RequestCode>(30'100)};

Status check(const plugin::ConfigView& config) {
    if (!config.text("templateGreeting").empty()) return Status::ok();
    return {StatusCode::InvalidArgument, "templateGreeting: an empty greeting greets nobody"};
}

}  // namespace

std::span<const plugin::ConfigKey> Template::configKeys() const noexcept {
    return kKeys;
}

Status Template::configure(const plugin::ConfigView& config) {
    if (auto status = check(config); !status) return status;
    greeting_ = config.text("templateGreeting");
    return Status::ok();
}

Status Template::reconfigure(const plugin::ConfigView& config, std::span<const std::string_view>) {
    if (auto status = check(config); !status) return status;
    const std::lock_guard lock(mutex_);
    greeting_ = config.text("templateGreeting");
    return Status::ok();
}

Status Template::init(plugin::PluginContext& context) {
    answered_ = &context.metrics().counter("template_answered_total", "Greetings that were answered.");
    plugin::BindOptions options;
    options.loopSafe = true;   // process() never waits
    if (auto status = context.processors().bind(kCodes, *this, options); !status) return status;
    return context.interceptors().add("broker", plugin::Phase::Trace, 0, *this);
}

void Template::process(plugin::Request request) {
    answered_->add();
    plugin::Response response;
    response.fields().add("seen", std::to_string(seen_.load(std::memory_order_relaxed)));
    {
        const std::lock_guard lock(mutex_);
        response.setBody(greeting_);
    }
    std::move(request).respond(std::move(response));
}

plugin::Verdict Template::intercept(const plugin::Interception&) {
    seen_.fetch_add(1, std::memory_order_relaxed);
    return {};   // no opinion
}

}  // namespace plugin_template
