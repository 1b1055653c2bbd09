#include "patchbay/testkit/FakeContext.h"

#include <gtest/gtest.h>

namespace patchbay::testkit {

bool CallResult::answered() const {
    const std::lock_guard lock(state_->mutex);
    return state_->response.has_value();
}

bool CallResult::held() const {
    const std::lock_guard lock(state_->mutex);
    return !state_->consumed;
}

bool CallResult::abandoned() const {
    const std::lock_guard lock(state_->mutex);
    return state_->abandoned;
}

bool CallResult::consumed() const {
    const std::lock_guard lock(state_->mutex);
    return state_->consumed;
}

int CallResult::rounds() const {
    const std::lock_guard lock(state_->mutex);
    return state_->rounds;
}

bool CallResult::await(std::chrono::milliseconds atMost) {
    const auto until = std::chrono::steady_clock::now() + atMost;
    while (true) {
        context_->pump();
        std::unique_lock lock(state_->mutex);
        if (state_->consumed) return true;
        if (std::chrono::steady_clock::now() >= until) return false;
        // Another thread may answer, which wakes us, or give the request back to the context, which is looked at again soon.
        state_->changed.wait_for(lock, std::chrono::milliseconds(1));
    }
}

protocol::RemotingCommand CallResult::response() const {
    const std::lock_guard lock(state_->mutex);
    if (state_->response) return *state_->response;
    ADD_FAILURE() << "there is no answer: " << (state_->abandoned ? "abandoned" : state_->consumed ? "one-way" : "still held");
    protocol::RemotingCommand none;
    none.code = -1;
    return none;
}

protocol::ResponseCode CallResult::code() const { return static_cast<protocol::ResponseCode>(response().code); }
std::string CallResult::remark() const { return response().remark.value_or(""); }
std::string CallResult::body() const { return response().body; }

std::map<std::string, std::string> CallResult::fields() const {
    std::map<std::string, std::string> map;
    for (auto& [key, value] : response().fields) map[key] = value;
    return map;
}

std::string CallResult::field(std::string_view name) const { return std::string(response().find(name).value_or("")); }

}  // namespace patchbay::testkit
