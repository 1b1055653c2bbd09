// ConfigReport: every key of the process: what runs, what the files say now, what the key is for, and what a change would meet.
#pragma once

#include "patchbay/base/Result.h"
#include "patchbay/plugin/Services.h"

#include <cstdint>
#include <string>
#include <vector>

namespace patchbay::service {

struct ConfigFact {
    std::string owner;            ///< "kernel" or the plugin
    std::string key;
    std::string doc;
    std::string type;             ///< "Int", "Bytes" …
    std::string defaultValue;
    std::string value;            ///< that runs; "***" for a secret
    std::string origin;           ///< "default", "main file" …
    std::string where;            ///< file and line; empty for a default
    std::string fileValue;        ///< as a start would read it now; "***" for a secret
    std::string fileWhere;
    bool live = false;            ///< can be changed without a restart
    bool differs = false;         ///< running value and files
};

/// Provided by the kernel. Thread-safe.
class ConfigReport {
public:
    static constexpr plugin::ServiceId kId{"patchbay.ConfigReport", 1};
    virtual ~ConfigReport();
    /// By owner and key. Reads the files again; InvalidArgument, with every problem, when they could not be started with.
    [[nodiscard]] virtual Result<std::vector<ConfigFact>> compare() const = 0;
    /// What RuntimeConfig::apply() of `listener` would answer to that change; nothing is changed. Whether the value contradicts another
    /// key is known to the key's owner alone, and only when it is told.
    [[nodiscard]] virtual Status check(const std::string& listener, const std::string& key, const std::string& value) const = 0;
    /// Takes back what was changed at run time: the line that kept it goes, and what the files or the default say is in force, at once
    /// where the key is live, else with the next start. NotFound when nothing was changed; OutOfRange and others when the owner refuses
    /// the value, and then nothing has changed. `dryRun`: only answers, without asking the owner.
    virtual Status unset(const std::string& key, bool dryRun) = 0;
};

}  // namespace patchbay::service
