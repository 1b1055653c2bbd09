#include "app/Manual.h"

#include <string_view>

namespace patchbay::kernel {

namespace {

struct Entry {
    std::string_view word;
    std::string_view meaning;
};

constexpr Entry kSignals[] = {
    {"SIGTERM, SIGINT", "no new work; requests under way are answered, name servers are told, everything is written down. A second one ends it at once."},
    {"SIGHUP", "applies the difference between the files and what runs, and opens log files anew."},
};
constexpr Entry kFiles[] = {
    {"etc/standalone.conf, ../etc/patchbay/standalone.conf beside the executable, /etc/patchbay/standalone.conf",
     "main file without -c: the first of these that exists."},
    {"plugins.d/*.conf beside the main file", "a file for each plugin; it switches the plugin on and holds its keys."},
    {"log.conf beside the main file", "where the log goes, and its levels."},
    {"STORE/config/runtime.properties", "what was changed while the broker ran. It wins over the files above; -D wins over it."},
};
constexpr Entry kExits[] = {
    {"0", "stopped as asked, or nothing is wrong"},
    {"1", "it could not run on"},
    {"64", "the command line is wrong"},
    {"78", "the configuration is; every problem was printed with its number"},
};

/// A hyphen that is typed as it is; a line that begins with a dot would be a request.
std::string troff(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '-') out += '\\';
        out += c;
    }
    return out.starts_with('.') || out.starts_with('\'') ? "\\&" + out : out;
}

void addEntries(std::string& text, std::string_view title, std::span<const Entry> entries) {
    text += ".SH " + std::string(title) + "\n";
    for (const auto& entry : entries) text += ".TP\n.B " + troff(entry.word) + "\n" + troff(entry.meaning) + "\n";
}

}  // namespace

std::string manualPage(std::span<const ManualOption> options) {
    std::string text =
        ".TH PATCHBAY 1\n.SH NAME\npatchbay \\- message broker and name server that speak RocketMQ's protocol\n.SH SYNOPSIS\n"
        ".B patchbay\n[\\fIOPTIONS\\fR]\n.SH DESCRIPTION\n"
        "Runs a broker, a name server or both, as the main file says, until it is told to stop. When clients may come it says so in one line on standard "
        "output; the log goes to standard error. Everything but moving frames is done by plugins, which files of plugins.d switch on.\n.PP\n"
        "What is wrong with the configuration is printed whole before anything is opened, each problem with a number that errors.md of the "
        "documentation explains.\n.SH OPTIONS\n";
    for (const auto& option : options) text += ".TP\n.B " + troff(option.spelled) + "\n" + troff(option.doc) + "\n";
    addEntries(text, "SIGNALS", kSignals);
    addEntries(text, "FILES", kFiles);
    addEntries(text, "EXIT STATUS", kExits);
    return text + ".SH EXAMPLE\n.nf\npatchbay \\-c /etc/patchbay/standalone.conf \\-\\-check\npatchbay \\-c /etc/patchbay/standalone.conf \\-D "
                  "listenPort=10911\n.fi\n.SH SEE ALSO\n.BR patchctl (1)\n";
}

}  // namespace patchbay::kernel
