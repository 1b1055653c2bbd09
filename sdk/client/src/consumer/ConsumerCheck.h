// What every kind of consumer checks of its options.
#pragma once

#include "patchbay/base/Result.h"
#include "patchbay/client/ConsumerOptions.h"
#include "patchbay/protocol/route/SubscriptionData.h"

#include <string_view>

namespace patchbay::client {

[[nodiscard]] Status check(const ConsumerOptions& options);
/// A broadcasting consumer without a name of its own is called DEFAULT, as by Java, so that it finds its progress again.
[[nodiscard]] ClientOptions withStableName(const ConsumerOptions& options);
[[nodiscard]] Result<protocol::SubscriptionData> subscriptionOf(std::string_view nameSpace, std::string_view topic, const Filter& filter);

}  // namespace patchbay::client
