#include "SqlitePlugin.h"

PATCHBAY_PLUGIN(patchbay::plugins::sqlite::SqlitePlugin, "storage-sqlite", "1.0.0", "Keeps messages in one SQLite database.",
                patchbay::plugin::kStartsFirst,
                "patchbay.MessageStore/1", "", "")
