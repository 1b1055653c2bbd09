// ClientRelay: questions to a consumer that an administrator asks through the broker (307).
#pragma once

#include "AdminProcessor.h"

namespace patchbay::plugins::admin {

/// Hands the request to the client and its answer back. Owned by the plugin; answers come on the control executor.
class ClientRelay final : public plugin::Processor {
public:
    explicit ClientRelay(const AdminServices& services) : services_(services) {}
    void process(plugin::Request request) override;

private:
    const AdminServices& services_;
};

}  // namespace patchbay::plugins::admin
