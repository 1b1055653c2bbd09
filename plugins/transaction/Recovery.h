// Recovery: finds out at start which half messages are open.
#pragma once

#include "OpLog.h"
#include "TransactionTable.h"

#include "patchbay/service/ConsumerOffsets.h"
#include "patchbay/service/MessageStore.h"

namespace patchbay::plugins::transaction {

/// Reads the half and the op queue from where the last run got, before anybody may append to them. Works on what this broker or
/// a Java broker has left behind, after a kill too: then a message may be there twice, in its old place and as a copy, of
/// which the copy counts.
void recover(service::MessageStore& store, const service::ConsumerOffsets& offsets, TransactionTable& table, OpLog& ops);

}  // namespace patchbay::plugins::transaction
