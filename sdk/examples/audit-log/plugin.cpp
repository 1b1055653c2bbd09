#include "AuditLog.h"

PATCHBAY_PLUGIN(audit_log::AuditLog, "audit-log", "1.0.0", "Logs administrative requests: who, what, how it ended.",
                patchbay::plugin::kConcurrentGenerations, "", "", "")
