#include "log/PocoErrorBridge.h"

#include <Poco/ErrorHandler.h>
#include <Poco/Exception.h>

#include <atomic>
#include <cstdio>
#include <string>

namespace patchbay::kernel {

namespace {

class Bridge final : public Poco::ErrorHandler {
public:
    void exception(const Poco::Exception& error) override { report(error.displayText()); }
    void exception(const std::exception& error) override { report(error.what()); }
    void exception() override { report("unknown exception"); }

    std::atomic<plugin::Logger*> log{nullptr};

private:
    void report(const std::string& text) {
        if (auto* target = log.load(std::memory_order_acquire)) {
            target->limited(plugin::LogLevel::Error, "an exception reached the end of a Poco thread", {{"error", text}});
        } else {
            std::fprintf(stderr, "patchbay: an exception reached the end of a Poco thread: %s\n", text.c_str());
        }
    }
};

}  // namespace

void bridgePocoErrors(plugin::Logger* log) noexcept {
    // Poco keeps a bare pointer to it until the process ends.
    static Bridge* const bridge = [] {
        auto* made = new Bridge;
        Poco::ErrorHandler::set(made);
        return made;
    }();
    bridge->log.store(log, std::memory_order_release);
}

}  // namespace patchbay::kernel
