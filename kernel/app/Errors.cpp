#include "app/Errors.h"

#include <algorithm>

namespace patchbay::kernel {

namespace {

using E = ErrorNumber;

constexpr ErrorInfo kErrors[] = {
    {E::ConfigFileUnreadable, "A configuration file cannot be read.", "Check the path after -c and the rights of the file."},
    {E::DescriptorLimit, "The limit of open files is below what the configuration needs.",
     "Raise it (LimitNOFILE= in systemd, ulimit -n in a shell) or lower serverConnectionsMax."},
    {E::StartFailed, "The process could not start for a reason outside its configuration.",
     "The text names what the operating system refused."},
    {E::DirectoryInUse, "Another process uses the data directory: a broker, of RocketMQ too, or a tool at work on its store.",
     "The text names it where it can be seen. Stop it or wait for its end, or give this process another directory (storePathRootDir)."},
    {E::PluginFileUnreadable, "A plugin's library cannot be opened or is not a 64-bit ELF library for this machine.",
     "Check `library` in the plugin's file and pluginDirectory; reinstall the package."},
    {E::NotAPlugin, "The library has no valid manifest.", "It is another kind of library, or a damaged file. Reinstall it."},
    {E::PluginApi, "The plugin was built for a plugin API that this broker does not offer.",
     "Upgrade the older of the two, or rebuild the plugin."},
    {E::PluginAbi, "The plugin was built by another compiler or with other options that change binary layout.",
     "Build broker and plugin with one toolchain and preset."},
    {E::PluginHeaders, "The plugin was built of other headers than the broker, and one of the two is no release.",
     "Build both from one tree, or use a released broker and SDK."},
    {E::PluginName, "The library is another plugin than its file in plugins.d says.",
     "Correct `plugin` or `library` in that file."},
    {E::PluginLoad, "The dynamic linker refuses the library.", "The text is the linker's own and names what is missing."},
    {E::PluginCreate, "The library loaded, but its plugin object could not be made.",
     "Report it to the plugin's author with the log."},
    {E::PluginManifestText, "A text in the manifest breaks the rules for names.", "Report it to the plugin's author."},
    {E::PluginCopy, "The private copy of a plugin's library can be written neither to runDirectory nor to memory.",
     "Make room on the disk of runDirectory."},
    {E::ServiceMissing, "A plugin needs a service that no enabled plugin provides.",
     "Enable one of the plugins that the message names."},
    {E::ServiceTwice, "Two enabled plugins provide one service.",
     "Disable one, or choose with `service.NAME = plugin` in the main file."},
    {E::ServiceCycle, "Plugins need each other in a circle.", "Disable one of the plugins that the message names."},
    {E::ServiceChoice, "A `service.NAME = plugin` line names a plugin that is not enabled or does not provide it.",
     "Correct the line, or enable the plugin."},
    {E::PluginExchange, "Plugins could not be exchanged while the broker runs; what ran before goes on.",
     "The text says what was in the way; try again, or restart."},
    {E::PluginConfigure, "A plugin refuses its configuration.", "The text is the plugin's own and names the key."},
    {E::PluginInit, "A plugin failed while it registered itself.", "The text is the plugin's own."},
    {E::PluginStart, "A plugin failed to start.", "The text is the plugin's own; what had started was stopped again."},
    {E::PluginFileIncomplete, "A file in plugins.d lacks `plugin` or `library`, or sets them wrongly.", "Add the line."},
    {E::PluginTwice, "Two files in plugins.d enable the same plugin.", "Remove or disable one of them."},
    {E::PluginKeyTable, "A plugin's own table of keys contradicts itself.", "Report it to the plugin's author."},
    {E::PropertySyntax, "A line of a configuration file is not `key = value`.", "Correct the line."},
    {E::TrailingComment, "A comment stands behind a value and would become part of it.",
     "Put the comment on a line of its own; write \\# for a # that belongs to the value."},
    {E::UnknownKey, "Nobody knows this key.", "Correct the spelling, enable the plugin that has the key, or remove the line."},
    {E::DuplicateKey, "A key is set twice in one file.", "Remove one of the lines."},
    {E::WrongType, "A value is not of its key's type.", "docs/configuration.md says what the key takes."},
    {E::OutOfRange, "A number is outside the limits of its key.", "docs/configuration.md gives the limits."},
    {E::NotAChoice, "A value is none of the words that its key takes.", "Use one of the words in the message."},
    {E::BadAddress, "A value is not an address that others could use.",
     "Write an IP address or a host name, without port, blanks or comments."},
    {E::BadIdentity, "The keys that say who this broker is contradict each other, or cannot be used as names.", "The text says which, and what is in the way."},
    {E::BadExecutor, "An executor.* key is not of the form executor.NAME.threads, .queueCapacity or .maxQueueWait.",
     "Correct the key."},
    {E::ListenFailed, "An address cannot be listened on.", "Another process has the port, or the address is not of this machine."},
    {E::LogSettings, "The log settings file is wrong.", "Correct the line that the message names."},
    {E::StoreWrite, "Messages cannot be written to the store at the moment: its database is locked, its disk is full, or it cannot be written.",
     "The reason names what is in the way; messages are taken again by themselves when it is gone."},
    {E::StoreRead, "Messages cannot be read. While a page or the disk fails the consumers of the queue stand there; what is lost for certain, one whose body has changed or a row that is missing, is passed over.",
     "The line names topic, queue, offset and reason. Restore a backup, or recover the database with the sqlite3 tool (REINDEX, if only an index has lost rows)."},
    {E::StoreLogKept, "A query or another program keeps the write-ahead log of the database from being reused, so that it grows.",
     "End it: the broker refuses messages at sqliteWalBytesLimit. A backup ends by itself before that."},
    {E::StoreLogCopy, "The write-ahead log cannot be copied into the database.", "The reason is the disk's or SQLite's own; nothing is lost while the log is there."},
};

}  // namespace

std::span<const ErrorInfo> errorList() noexcept {
    return kErrors;
}

std::string errorsDocument() {
    std::string text =
        "# Errors\n\n"
        "Generated by `patchbay --errors-doc`; do not edit. Every message that an operator can meet at start carries one of\n"
        "these numbers, and so do the lines of a store that cannot work. All problems of one start are printed together.\n\n"
        "| number | what it means | what to do |\n|---|---|---|\n";
    for (const auto& error : kErrors) {
        text += "| PB-" + std::to_string(static_cast<int>(error.number)) + " | ";
        text += error.title;
        text += " | ";
        text += error.remedy;
        text += " |\n";
    }
    return text;
}

std::string Problem::toString() const {
    std::string line = "PB-" + std::to_string(static_cast<int>(number)) + " ";
    if (!where.empty()) line += where + ": ";
    return line + text;
}

std::vector<std::string> Problems::lines() const {
    std::vector<std::string> lines;
    for (const auto& problem : list_) {
        auto line = problem.toString();
        if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(std::move(line));
    }
    return lines;
}

std::string Problems::toString() const {
    std::string text;
    for (const auto& line : lines()) text += line + "\n";
    return text;
}

}  // namespace patchbay::kernel
