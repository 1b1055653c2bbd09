// Schema: the tables of the store, and which versions of them this build understands.
#pragma once

#include "Database.h"

namespace patchbay::plugins::sqlite {

/// Stored as the file's user_version. The views and their column names are a promise to people; the tables are not.
inline constexpr std::int64_t kSchemaVersion = 4;
/// Stored as the file's application_id: "PBST".
inline constexpr std::int64_t kApplicationId = 0x50425354;

/// Makes the tables in a new file with pages of `pageBytes`, brings those of an older version up to date in one transaction, or leaves
/// what is current alone. Corrupt for a file that is damaged or no database,
/// InvalidArgument for another program's database, Unsupported for a newer schema.
Status prepareSchema(Database& database, std::size_t pageBytes);

}  // namespace patchbay::plugins::sqlite
