// Answers request code 30001 with a greeting, and counts how often.
#include "patchbay/plugin/Plugin.h"

#include <string>
#include <utility>

namespace {

using namespace patchbay;

constexpr plugin::ConfigKey kKeys[] = {
    {"greetingText", plugin::ConfigType::Text, "hello", "What is answered."},
};

class Greeting final : public plugin::Plugin, private plugin::Processor {
public:
    std::span<const plugin::ConfigKey> configKeys() const noexcept override { return kKeys; }

    Status configure(const plugin::ConfigView& config) override {
        text_ = config.text("greetingText");
        if (text_.empty()) return {StatusCode::InvalidArgument, "greetingText: an empty greeting greets nobody"};
        return Status::ok();
    }

    Status init(plugin::PluginContext& context) override {
        answered_ = &context.metrics().counter("greeting_answered_total", "Greetings that were answered.");
        static constexpr protocol::RequestCode kCodes[] = {static_cast<protocol::RequestCode>(30'001)};
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

PATCHBAY_PLUGIN(Greeting, "greeting", "1.0.0", "Greets whoever asks.", patchbay::plugin::kConcurrentGenerations, "", "", "")
