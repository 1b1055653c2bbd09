#include "dispatch/Registrations.h"

#include "dispatch/Executors.h"
#include "patchbay/plugin/Administration.h"
#include "patchbay/protocol/PrivateCode.h"

#include <algorithm>
#include <array>
#include <utility>

namespace patchbay::kernel {

namespace {

constexpr std::int32_t kOwnCodeMin = 29'000;
constexpr std::array<std::string_view, 3> kOwnCodePlugins = {"control", "consumer-admin", "namesrv"};

}  // namespace

Registrations::Registrations(Ref<Generation> generation, Executors& executors, std::vector<std::string> listeners,
                             std::vector<const Registrations*> others)
    : generation_(generation.get()), held_(std::move(generation)), executors_(executors), listeners_(std::move(listeners)),
      others_(std::move(others)) {}

Status Registrations::bind(std::span<const protocol::RequestCode> codes, plugin::Processor& processor,
                           const plugin::BindOptions& options) {
    const auto listener = indexOf(options.listener);
    if (!listener) return listener.error();
    Entry entry{*listener, {}, {&processor, nullptr, nullptr, options.loopSafe, {}}};
    for (const auto code : codes) {
        const auto number = static_cast<std::int32_t>(code);
        const bool own = number >= kOwnCodeMin && number < protocol::kThirdPartyCodeMin;
        if (own && std::ranges::find(kOwnCodePlugins, generation_->plugin()) == kOwnCodePlugins.end()) {
            return {StatusCode::InvalidArgument, "request code " + std::to_string(number) + " is Patchbay's own; plugins of others have " +
                                                     std::to_string(protocol::kThirdPartyCodeMin) + " to " +
                                                     std::to_string(protocol::kThirdPartyCodeMax)};
        }
        const auto taken = [&](const Registrations* one) { return one->binds(*listener, number); };
        const Registrations* owner = taken(this) ? this : nullptr;
        if (const auto other = std::find_if(others_.begin(), others_.end(), taken); other != others_.end()) owner = *other;
        if (owner != nullptr || std::find(entry.codes.begin(), entry.codes.end(), number) != entry.codes.end()) {
            return {StatusCode::AlreadyExists,
                    "request code " + std::to_string(number) + " of listener '" + std::string(options.listener) +
                        "' is bound by plugin '" + (owner != nullptr ? *owner : *this).generation().plugin() +
                        "' and by plugin '" + generation_->plugin() + "'"};
        }
        entry.codes.push_back(number);
    }
    if (!options.executor.name.empty()) {
        auto executor = executors_.obtain(options.executor);
        if (!executor) return executor.error();
        entry.binding.executor = *executor;
    } else if (!options.loopSafe) {
        return {StatusCode::InvalidArgument,
                "plugin '" + generation_->plugin() + "' binds a processor that is not loop-safe without an executor"};
    }
    entries_.push_back(std::move(entry));
    return Status::ok();
}

Status Registrations::add(std::string_view listener, plugin::Phase phase, std::int32_t order,
                          plugin::Interceptor& interceptor) {
    const auto index = indexOf(listener);
    if (!index) return index.error();
    interceptions_.push_back({*index, {phase, order, &interceptor, {}}});
    // Who watches or guards clients does the same for operators, without knowing that they have a port of their own.
    const auto admin = indexOf(plugin::kAdminListener);
    const auto followed = indexOf("broker") ? std::string_view("broker") : std::string_view("namesrv");
    if (admin && listener == followed) interceptions_.push_back({*admin, {phase, order, &interceptor, {}}});
    return Status::ok();
}

std::size_t Registrations::codeCount() const noexcept {
    std::size_t count = 0;
    for (const auto& entry : entries_) count += entry.codes.size();
    return count;
}

std::vector<std::pair<std::string, std::int32_t>> Registrations::codes() const {
    std::vector<std::pair<std::string, std::int32_t>> list;
    for (const auto& entry : entries_) {
        for (const auto code : entry.codes) list.emplace_back(listeners_[entry.listener], code);
    }
    std::sort(list.begin(), list.end());
    return list;
}

Result<ListenerIndex> Registrations::indexOf(std::string_view listener) const {
    const auto found = std::find(listeners_.begin(), listeners_.end(), listener);
    if (found == listeners_.end()) {
        return Status(StatusCode::NotFound, "this process has no listener '" + std::string(listener) + "'");
    }
    return static_cast<ListenerIndex>(found - listeners_.begin());
}

bool Registrations::binds(ListenerIndex listener, std::int32_t code) const noexcept {
    return std::any_of(entries_.begin(), entries_.end(), [&](const Entry& entry) {
        return entry.listener == listener && std::find(entry.codes.begin(), entry.codes.end(), code) != entry.codes.end();
    });
}

}  // namespace patchbay::kernel
