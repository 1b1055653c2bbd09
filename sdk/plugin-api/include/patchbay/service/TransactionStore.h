// TransactionStore: messages that become visible only when their producer says so.
#pragma once

#include "patchbay/plugin/Services.h"
#include "patchbay/service/MessageStore.h"

#include <string>

namespace patchbay::service {

/// Thread-safe. Without a provider a transactional message is refused, never delivered at once.
class TransactionStore {
public:
    static constexpr plugin::ServiceId kId{"patchbay.TransactionStore", 1};
    virtual ~TransactionStore();

    /// Called for an item whose properties say TRAN_MSG=true. Turns it into a half message: topic (static text), queue, sysFlag
    /// and properties change. `properties`, which outlives the item, receives the whole text, broker properties included.
    /// Where it is to go once committed is in those properties.
    virtual void prepare(AppendItem& item, std::string& properties) = 0;
};

}  // namespace patchbay::service
