#include "dispatch/InterceptorChain.h"

#include <algorithm>
#include <exception>
#include <tuple>
#include <utility>

namespace patchbay::kernel {

using plugin::Phase;
using plugin::Response;
using plugin::Verdict;

namespace {

/// An interceptor's opinion; an exception is a refusal that is logged.
Verdict ask(const RegisteredInterceptor& entry, const plugin::Interception& at, const InterceptorFault& failed) {
    std::string text;
    try {
        return entry.interceptor->intercept(at);
    } catch (const std::exception& error) {
        text = error.what();
    } catch (...) {
        text = "unknown exception";
    }
    failed.interceptorFailed(entry.generation->plugin(), at.core.command->code, text);
    return {Verdict::Kind::Answer, Response(protocol::ResponseCode::SystemError, std::move(text))};
}

/// The plugins, each once, so that an operator who is locked out knows which one to take away.
std::string namesOf(const std::vector<RegisteredInterceptor>& entries) {
    std::string text;
    const std::string* last = nullptr;
    for (const auto& entry : entries) {
        const std::string& name = entry.generation->plugin();
        if (last != nullptr && *last == name) continue;
        if (last != nullptr) text += ", ";
        text += name;
        last = &name;
    }
    return text;
}

}  // namespace

void InterceptorChain::add(RegisteredInterceptor entry) {
    auto& phase = phases_[index(entry.phase)];
    const auto rank = [](const RegisteredInterceptor& e) { return std::tie(e.order, e.generation->plugin()); };
    const auto place = std::upper_bound(phase.begin(), phase.end(), entry,
                                        [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
    phase.insert(place, std::move(entry));
    ++size_;
}

Verdict InterceptorChain::admit(const plugin::RequestCore& core, const InterceptorFault& failed) const {
    for (auto i = index(Phase::Received); i <= index(Phase::Trace); ++i) {
        const auto phase = static_cast<Phase>(i);
        bool allowed = phase != Phase::Authorize || phases_[i].empty();
        for (const auto& entry : phases_[i]) {
            auto verdict = ask(entry, {phase, core, nullptr}, failed);
            if (verdict.kind == Verdict::Kind::Answer || verdict.kind == Verdict::Kind::Close) return verdict;
            if (verdict.kind == Verdict::Kind::Continue) allowed = true;
        }
        if (!allowed) {
            return {Verdict::Kind::Answer, Response(protocol::ResponseCode::NoPermission, "no authorizer allows this request; asked were: " + namesOf(phases_[i]))};
        }
    }
    return {};
}

void InterceptorChain::responding(const plugin::RequestCore& core, Response& response, const InterceptorFault& failed) const noexcept {
    for (const auto& entry : phases_[index(Phase::Responding)]) ask(entry, {Phase::Responding, core, &response}, failed);
}

void InterceptorChain::completed(const plugin::RequestCore& core, const InterceptorFault& failed) const noexcept {
    for (const auto& entry : phases_[index(Phase::Completed)]) ask(entry, {Phase::Completed, core, nullptr}, failed);
}

}  // namespace patchbay::kernel
