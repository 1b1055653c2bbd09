#include "SendBack.h"

#include <memory>
#include <string_view>

namespace patchbay::plugins::retry {

using protocol::ResponseCode;
using service::AppendStatus;

namespace {

/// RocketMQ's names, which its consumers log.
std::string_view nameOf(AppendStatus status) noexcept {
    switch (status) {
        case AppendStatus::PutOk: return "PUT_OK";
        case AppendStatus::FlushDiskTimeout: return "FLUSH_DISK_TIMEOUT";
        case AppendStatus::FlushSlaveTimeout: return "FLUSH_SLAVE_TIMEOUT";
        case AppendStatus::SlaveNotAvailable: return "SLAVE_NOT_AVAILABLE";
        case AppendStatus::ServiceNotAvailable: return "SERVICE_NOT_AVAILABLE";
        case AppendStatus::MessageIllegal: return "MESSAGE_ILLEGAL";
        case AppendStatus::PropertiesSizeExceeded: return "PROPERTIES_SIZE_EXCEEDED";
        case AppendStatus::Busy: return "OS_PAGE_CACHE_BUSY";
        case AppendStatus::Failed: break;
    }
    return "UNKNOWN_ERROR";
}

}  // namespace

void SendBacksInFlight::begin() {
    const std::lock_guard lock(mutex_);
    ++count_;
}

void SendBacksInFlight::end() noexcept {
    // The signal under the lock: whoever waits destroys this object next.
    const std::lock_guard lock(mutex_);
    if (--count_ == 0) none_.notify_all();
}

void SendBacksInFlight::awaitNone() noexcept {
    std::unique_lock lock(mutex_);
    none_.wait(lock, [this] { return count_ == 0; });
}

void SendBack::done() noexcept {
    SendBacksInFlight& inFlight = inFlight_;
    {
        const std::unique_ptr<SendBack> self(this);
        const AppendStatus status = items.front().status;
        // A consumer that hears of a failure sends the message once more, so whatever is stored is no failure.
        if (service::isStored(status)) {
            if (traffic != nullptr) traffic->count("SNDBCK_PUT_NUMS", statsKey, 1);
            std::move(request).respond(ResponseCode::Success);
        } else {
            std::string remark(nameOf(status));
            if (!failure.isOk()) remark += ": " + failure.message();
            std::move(request).respond(ResponseCode::SystemError, std::move(remark));
        }
    }
    inFlight.end();
}

}  // namespace patchbay::plugins::retry
