#include "ReplyPlugin.h"

PATCHBAY_PLUGIN(patchbay::plugins::reply::ReplyPlugin, "reply", "1.0.0", "Hands replies to the clients that asked.",
                patchbay::plugin::kConcurrentGenerations, "",
                "patchbay.MessageStore/1 patchbay.TopicConfigs/1 patchbay.ClientRegistry/1", "")
