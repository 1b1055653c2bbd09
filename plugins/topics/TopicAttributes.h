// Attributes of topics: which there are, and how an administrator changes them.
#pragma once

#include "patchbay/base/Result.h"
#include "patchbay/protocol/route/TopicConfig.h"

namespace patchbay::plugins::topics {

/// The attributes after a change: "+name" sets a value, "-name" removes it; names without a sign are accepted where they
/// repeat what is stored, as when a configuration is read, altered elsewhere and put back. No change at all keeps the stored ones.
/// InvalidArgument for a missing sign, an unknown name, a value that is not allowed, the removal of what is not there, and a
/// change of what may only be set when the topic is created.
Result<protocol::Attributes> changeAttributes(const protocol::Attributes& stored, const protocol::Attributes& changes, bool creating);

}  // namespace patchbay::plugins::topics
