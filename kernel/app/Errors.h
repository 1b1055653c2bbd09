// The numbered errors that an operator can meet. One list: messages, docs/errors.md and tests are made from it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::kernel {

/// Numbers never change their meaning and are never used again.
enum class ErrorNumber : int {
    ConfigFileUnreadable = 1001,
    DescriptorLimit = 1002,
    StartFailed = 1003,
    DirectoryInUse = 1004,   // also the beginning of what stores and tools say
    PluginFileUnreadable = 1101,
    NotAPlugin = 1102,
    PluginApi = 1103,
    PluginAbi = 1104,
    PluginHeaders = 1105,
    PluginName = 1106,
    PluginLoad = 1107,
    PluginCreate = 1108,
    PluginManifestText = 1109,
    PluginCopy = 1110,
    ServiceMissing = 1111,
    ServiceTwice = 1112,
    ServiceCycle = 1113,
    ServiceChoice = 1114,
    PluginExchange = 1115,
    PluginConfigure = 1121,
    PluginInit = 1122,
    PluginStart = 1123,
    PluginFileIncomplete = 1131,
    PluginTwice = 1132,
    PluginKeyTable = 1133,
    PropertySyntax = 1201,
    TrailingComment = 1202,
    UnknownKey = 1203,
    DuplicateKey = 1204,
    WrongType = 1205,
    OutOfRange = 1206,
    NotAChoice = 1207,
    BadAddress = 1208,
    BadIdentity = 1209,
    BadExecutor = 1210,
    ListenFailed = 1301,
    LogSettings = 1401,
    // Written by stores while they run, as the beginning of their lines.
    StoreWrite = 1501,
    StoreRead = 1502,
    StoreLogKept = 1503,
    StoreLogCopy = 1504,
};

struct ErrorInfo {
    ErrorNumber number;
    std::string_view title;
    std::string_view remedy;
};

/// The whole list, by number.
[[nodiscard]] std::span<const ErrorInfo> errorList() noexcept;
/// docs/errors.md.
[[nodiscard]] std::string errorsDocument();

/// One thing that is wrong, as it is printed: "PB-1203 etc/broker.conf:12: unknown key …".
struct Problem {
    ErrorNumber number;
    std::string where;   ///< "file:line", a plugin's name, or empty
    std::string text;

    [[nodiscard]] std::string toString() const;
};

/// Everything that is wrong, in the order it was found; a start reports all of it, not the first.
class Problems {
public:
    void add(ErrorNumber number, std::string where, std::string text) {
        list_.push_back({number, std::move(where), std::move(text)});
    }
    [[nodiscard]] bool empty() const noexcept { return list_.empty(); }
    [[nodiscard]] bool has(ErrorNumber number) const noexcept {
        return std::any_of(list_.begin(), list_.end(), [number](const Problem& problem) { return problem.number == number; });
    }
    [[nodiscard]] std::size_t size() const noexcept { return list_.size(); }
    [[nodiscard]] const std::vector<Problem>& list() const noexcept { return list_; }
    void append(const Problems& other) { list_.insert(list_.end(), other.list_.begin(), other.list_.end()); }
    /// As they are printed, each line once: several plugins may refuse one value of the main file with the same words.
    [[nodiscard]] std::vector<std::string> lines() const;
    [[nodiscard]] std::string toString() const;

private:
    std::vector<Problem> list_;
};

}  // namespace patchbay::kernel
