#include "RateLimiter.h"

PATCHBAY_PLUGIN(rate_limit::RateLimiter, "rate-limit", "1.0.0", "Refuses what a client sends to a topic beyond a rate.",
                patchbay::plugin::kConcurrentGenerations, "", "", "")
