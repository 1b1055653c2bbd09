#include "TransactionPlugin.h"

PATCHBAY_PLUGIN(patchbay::plugins::transaction::TransactionPlugin, "transaction", "1.0.0",
                "Messages that become visible only when their producer commits them.", 0, "patchbay.TransactionStore/1",
                "patchbay.MessageStore/1 patchbay.ConsumerOffsets/1 patchbay.ClientRegistry/1 patchbay.TopicConfigs/1",
                "patchbay.DelaySchedule/1")
