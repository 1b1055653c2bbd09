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

/// In a binary header, which has 16 bits for a code.
bool lookAlike(std::int32_t a, std::int32_t b) noexcept {
    return static_cast<std::uint16_t>(a) == static_cast<std::uint16_t>(b);
}

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
        if (Status free = checkFree(*listener, number, entry.codes); !free) return free;
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

Status Registrations::checkFree(ListenerIndex listener, std::int32_t code, const std::vector<std::int32_t>& mine) const {
    std::vector<const Registrations*> all = others_;
    all.push_back(this);
    for (const Registrations* one : all) {
        auto taken = one->like(listener, code);
        if (one == this && !taken) {
            const auto at = std::ranges::find_if(mine, [&](std::int32_t other) { return lookAlike(code, other); });
            if (at != mine.end()) taken = *at;
        }
        if (!taken) continue;
        const std::string both = " of listener '" + listeners_[listener] + "' is bound by plugin '" + one->generation().plugin() + "'";
        if (*taken == code) {
            return {StatusCode::AlreadyExists,
                    "request code " + std::to_string(code) + both + " and by plugin '" + generation_->plugin() + "'"};
        }
        return {StatusCode::InvalidArgument,
                "request code " + std::to_string(code) + " of plugin '" + generation_->plugin() + "' cannot be told from " +
                    std::to_string(*taken) + ": binary headers have 16 bits for it, and code " + std::to_string(*taken) + both};
    }
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

std::optional<std::int32_t> Registrations::like(ListenerIndex listener, std::int32_t code) const noexcept {
    std::optional<std::int32_t> found;
    for (const auto& entry : entries_) {
        if (entry.listener != listener) continue;
        for (const auto bound : entry.codes) {
            if (bound == code) return bound;
            if (lookAlike(bound, code)) found = bound;
        }
    }
    return found;
}

}  // namespace patchbay::kernel
