// The executable: what the command line asks for, and nothing else. The process itself is app/BrokerApplication.
#include "app/BrokerApplication.h"
#include "app/Errors.h"
#include "app/Manual.h"
#include "app/Preparation.h"
#include "config/RocketmqKeys.h"
#include "log/PocoErrorBridge.h"
#include "patchbay/base/Nearest.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <malloc.h>
#include <string>
#include <vector>

namespace {

using namespace patchbay;
using namespace patchbay::kernel;

struct CommandLine {
    LaunchOptions launch;
    std::string inspect;
    std::string explain;
    bool check = false;
    bool print = false;
    bool configDocument = false;
    bool defaultConfig = false;
    bool errorsDocument = false;
    std::string manual;   ///< when it is asked for
};

std::string executableDirectory() {
    std::error_code ignored;
    return std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path().string();
}

/// Without -c: beside the working directory, of the installation, of the system.
std::string defaultConfig(const std::string& executable) {
    std::error_code ignored;
    for (const std::string& candidate : {std::string("etc/standalone.conf"), executable + "/../etc/patchbay/standalone.conf",
                                        std::string("/etc/patchbay/standalone.conf")}) {
        if (std::filesystem::exists(candidate, ignored)) return candidate;
    }
    return "etc/standalone.conf";
}

/// Without defaults that depend on where it is asked.
std::string manualOf(const CLI::App& app) {
    std::vector<ManualOption> options;
    for (const auto* option : app.get_options()) {
        std::string spelled = option->get_name(false, true);
        for (auto at = spelled.find(','); at != std::string::npos; at = spelled.find(',', at + 2)) spelled.insert(at + 1, " ");
        if (!option->get_type_name().empty()) spelled += " " + option->get_type_name();
        options.push_back({std::move(spelled), option->get_description()});
    }
    return manualPage(options);
}

/// -1 to go on, else the exit code.
int parse(int argc, char** argv, CommandLine& out) {
    CLI::App app("Patchbay: message broker and name server that speak RocketMQ's protocol.", "patchbay");
    out.launch.executableDirectory = executableDirectory();
    out.launch.configPath = defaultConfig(out.launch.executableDirectory);
    app.add_option("-c,--config", out.launch.configPath, "main configuration file")->capture_default_str();
    app.add_option("-D,--define", out.launch.definitions, "key=value, wins over all files; may be repeated")->allow_extra_args(false);
    std::string namesrv;
    app.add_option("-n,--namesrv", namesrv, "name servers, \"host:port;host:port\"; the same as -D namesrvAddr=");
    app.add_flag("--check", out.check, "check configuration and plugins, print every problem, open no port; exits 78 when there is one");
    app.add_flag("--print-config", out.print, "print every key with its value and where it comes from");
    app.add_option("--explain", out.explain, "say what a configuration key is for, what it may be, what it is and why");
    app.add_option("--inspect", out.inspect, "print the manifest of a plugin library and whether this broker would take it");
    app.add_flag("--config-doc", out.configDocument, "print docs/configuration.md, of the kernel and all plugins in pluginDirectory");
    app.add_flag("--default-config", out.defaultConfig, "print a configuration file with every key, its meaning and its default, as comments");
    app.add_flag("--errors-doc", out.errorsDocument, "print docs/errors.md");
    bool manual = false;
    app.add_flag("--manual", manual, "print docs/patchbay.1, this help as a page for man");
    app.set_version_flag("-V,--version", "patchbay " PATCHBAY_VERSION);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? kExitOk : kExitUsage;
    }
    if (manual) out.manual = manualOf(app);
    if (!namesrv.empty()) out.launch.definitions.push_back("namesrvAddr=" + namesrv);
    return -1;
}

int printProblems(const Problems& problems) {
    std::fputs(problems.toString().c_str(), stderr);
    return problems.empty() ? kExitOk : kExitConfig;
}

int inspect(const std::string& path) {
    Problems problems;
    const auto description = readManifest(systemFiles(), path, path, problems);
    if (description) {
        std::fputs(describe(*description).c_str(), stdout);
        checkAbi(*description, path, problems);
    }
    if (problems.empty()) std::puts("this broker takes it");
    return printProblems(problems);
}

int explain(const LaunchOptions& launch, const std::string& key) {
    const auto prepared = prepare(systemFiles(), launch, true);
    const auto text = explainKey(prepared, key);
    if (!text.empty()) return std::fputs(text.c_str(), stdout) >= 0 ? kExitOk : kExitFailed;
    std::vector<std::string> known;
    for (const auto& [name, item] : prepared.kernelValues.items()) known.push_back(name);
    if (prepared.host) {
        for (const auto& instance : prepared.host->instances()) {
            for (const auto& [name, item] : instance->values().items()) known.push_back(name);
        }
    }
    if (findRocketmqKey(key) != nullptr) {
        std::printf("key       %s (RocketMQ)\nmeaning   Taken from its files, without effect here; docs/configuration.md has the list.\n", key.c_str());
        return kExitOk;
    }
    std::fprintf(stderr, "nobody who is enabled has a key '%s'%s\n", key.c_str(), didYouMean(key, known).c_str());
    return kExitUsage;
}

int check(const LaunchOptions& launch, bool print) {
    const auto prepared = prepare(systemFiles(), launch, true);
    if (print) std::fputs(printedConfig(prepared).c_str(), stdout);
    if (!print && prepared.problems.empty()) std::fputs(summary(prepared).c_str(), stdout);
    return printProblems(prepared.problems);
}

int printKeys(const LaunchOptions& launch, std::string (*document)(FileSystem&, const std::string&)) {
    const auto prepared = prepare(systemFiles(), launch, true);
    std::fputs(document(systemFiles(), prepared.settings.pluginDirectory).c_str(), stdout);
    return kExitOk;
}

int runMain(int argc, char** argv, MonotonicTime startedAt) {
    CommandLine line;
    if (const int code = parse(argc, argv, line); code >= 0) return code;
    if (!line.manual.empty()) return std::fputs(line.manual.c_str(), stdout) >= 0 ? kExitOk : kExitFailed;
    if (line.errorsDocument) return std::fputs(errorsDocument().c_str(), stdout) >= 0 ? kExitOk : kExitFailed;
    if (!line.inspect.empty()) return inspect(line.inspect);
    if (!line.explain.empty()) return explain(line.launch, line.explain);
    if (line.configDocument) return printKeys(line.launch, configDocument);
    if (line.defaultConfig) return printKeys(line.launch, commentedDefaults);
    if (line.check || line.print) return check(line.launch, line.print);
    return BrokerApplication(std::move(line.launch), startedAt).run();
}

// One large frame teaches glibc to serve blocks of its size from its arenas, each of which then keeps tens of megabytes that are free.
void returnFreedMemory() noexcept {
    ::mallopt(M_MMAP_THRESHOLD, 2 << 20);
    ::mallopt(M_TRIM_THRESHOLD, 4 << 20);
}

}  // namespace

int main(int argc, char** argv) {
    const auto startedAt = systemClock().now();
    returnFreedMemory();
    bridgePocoErrors(nullptr);
    LifecycleLoop::blockHangups();
    try {
        return runMain(argc, argv, startedAt);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "PB-1003 %s\n", error.what());
        return kExitFailed;
    }
}
