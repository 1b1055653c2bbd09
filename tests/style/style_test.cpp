// Proves: plugins include only the SDK, their own headers and the system's; each exports exactly the three names of the contract; files
// keep to their size; error numbers and generated documents are what the program prints now; tests that start the broker run on each store or say
// why not. How: the source tree, nm and the built executable.
// Left to others: who links whom (checked when CMake configures).
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace {

namespace fs = std::filesystem;

const fs::path kSource = PATCHBAY_SOURCE_DIR;
const fs::path kPlugins = PATCHBAY_PLUGIN_DIR;

std::string readFile(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream all;
    all << file.rdbuf();
    return all.str();
}

std::string outputOf(const std::string& command) {
    std::string text;
    FILE* pipe = popen(command.c_str(), "r");
    char piece[4096];
    while (pipe != nullptr) {
        const auto count = fread(piece, 1, sizeof piece, pipe);
        if (count == 0) break;
        text.append(piece, count);
    }
    if (pipe != nullptr) pclose(pipe);
    return text;
}

std::vector<fs::path> sourcesUnder(const fs::path& folder) {
    std::vector<fs::path> list;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        const auto extension = entry.path().extension();
        if (entry.is_regular_file() && (extension == ".h" || extension == ".cpp")) list.push_back(entry.path());
    }
    std::sort(list.begin(), list.end());
    return list;
}

std::vector<fs::path> libraries() {
    std::vector<fs::path> list;
    for (const auto& entry : fs::directory_iterator(kPlugins)) {
        if (entry.path().extension() == ".so") list.push_back(entry.path());
    }
    return list;
}

TEST(Style, PluginsIncludeOnlyTheSdkTheirOwnAndTheSystem) {
    for (const auto& plugin : fs::directory_iterator(kSource / "plugins")) {
        if (!plugin.is_directory()) continue;
        for (const auto& file : sourcesUnder(plugin.path())) {
            std::istringstream lines(readFile(file));
            std::string line;
            for (int number = 1; std::getline(lines, line); ++number) {
                if (line.rfind("#include ", 0) != 0) continue;
                const auto name = line.substr(10, line.find_first_of("\">", 10) - 10);
                const auto where = file.string() + ":" + std::to_string(number) + ": " + line;
                EXPECT_EQ(name.find(".."), std::string::npos) << where;
                const bool sdk = name.rfind("patchbay/", 0) == 0;
                if (line[9] == '"' && !sdk) {
                    EXPECT_TRUE(fs::exists(plugin.path() / name) || fs::exists(file.parent_path() / name)) << where;
                }
                EXPECT_TRUE(name.rfind("patchbay/net/", 0) != 0) << where << " (plugins do not see sockets)";
            }
        }
    }
}

/// Whether a line asks the system itself for time, files or sockets.
bool callsTheSystem(const std::string& line) {
    for (const char* const call : {"std::ifstream", "std::ofstream", "std::fstream", "fopen(", "steady_clock::now", "system_clock::now", "wait_for(",
                                   "wait_until(", "sleep_for(", "sleep_until(", "usleep(", "getifaddrs(", "std::filesystem::exists",
                                   "std::filesystem::equivalent", "std::filesystem::remove", "std::filesystem::rename",
                                   "std::filesystem::create_dir", "std::filesystem::directory_iter", "std::filesystem::file_size",
                                   "std::filesystem::is_", "std::filesystem::recursive"}) {
        if (line.find(call) != std::string::npos) return true;
    }
    for (const char* const call : {"open", "read", "write", "pread", "pwrite", "unlink", "rename", "socket", "connect", "fsync", "fdatasync", "mmap",
                                   "stat", "mkdir", "poll"}) {
        const std::string global = std::string("::") + call + "(";
        for (auto at = line.find(global); at != std::string::npos; at = line.find(global, at + 1)) {
            // A name before it makes it a member of something.
            const char before = at == 0 ? ' ' : line[at - 1];
            if (std::isalnum(static_cast<unsigned char>(before)) == 0 && before != '_' && before != ':' && before != '>') return true;
        }
    }
    return false;
}

// A file that is not named here reaches time, files and sockets by the seams alone, so that a test, or a simulated cluster, decides them.
TEST(Style, NothingAboveTheSeamsCallsTheSystem) {
    const std::set<std::string> known{
        "kernel/app/LifecycleLoop.cpp",      // signals, and the pipe that tells of them
        "kernel/config/Advertise.cpp",       // the machine's addresses and routes
        "kernel/config/ConfigSources.cpp",   // before there is anything to inject
        "kernel/config/KernelSettings.cpp",
        "kernel/log/LineQueue.cpp",          // the log works when nothing else does, also under a clock that stands
        "kernel/log/LogSystem.cpp",
        "kernel/log/StandardErrorSink.cpp",
        "kernel/plugin/PluginLibrary.cpp",   // the dynamic linker takes a descriptor
        "kernel/timers/MemoryTrim.cpp",      // the process's own memory
        "kernel/app/ConfigDocument.cpp",     // a command, not the server
        "kernel/main.cpp",
        "plugins/storage-sqlite/SqlitePlugin.cpp",  // whether two names are one directory
        "sdk/client/src/instance/Identity.cpp",  // the machine's addresses
    };
    std::vector<fs::path> files = sourcesUnder(kSource / "kernel");
    for (const char* const folder : {"plugins", "sdk/plugin-api", "sdk/client"}) {
        const auto more = sourcesUnder(kSource / folder);
        files.insert(files.end(), more.begin(), more.end());
    }
    for (const auto& file : files) {
        if (known.contains(fs::relative(file, kSource).string())) continue;
        std::istringstream lines(readFile(file));
        std::string line;
        for (int number = 1; std::getline(lines, line); ++number) {
            if (line.find("//") != std::string::npos) line.resize(line.find("//"));
            EXPECT_FALSE(callsTheSystem(line)) << file.string() << ":" << number << ": " << line << " (see CONTRIBUTING.md on seams)";
        }
    }
}

TEST(Style, PluginsExportExactlyThreeNames) {
    const std::set<std::string> expected{"patchbay_plugin_manifest", "patchbay_plugin_create", "patchbay_plugin_destroy"};
    const auto list = libraries();
    ASSERT_FALSE(list.empty());
    for (const auto& library : list) {
        std::istringstream lines(outputOf("nm -D --defined-only '" + library.string() + "'"));
        std::set<std::string> exported;
        std::string address;
        std::string kind;
        std::string name;
        while (lines >> address >> kind >> name) exported.insert(name.substr(0, name.find('@')));
        EXPECT_EQ(exported, expected) << library;
    }
}

TEST(Style, FilesAreShortEnoughToRead) {
    for (const char* folder : {"sdk", "kernel", "plugins"}) {
        for (const auto& file : sourcesUnder(kSource / folder)) {
            const auto text = readFile(file);
            EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 700) << file;
        }
    }
}

bool includesOneOf(const std::string& text, const std::set<std::string>& headers) {
    return std::any_of(headers.begin(), headers.end(), [&](const std::string& name) {
        return text.find("/" + name + "\"\n") != std::string::npos || text.find("#include \"" + name + "\"\n") != std::string::npos;
    });
}

/// Sources of tests that start the built broker, by themselves or by a fixture.
std::vector<fs::path> testsWithABroker() {
    const auto sources = sourcesUnder(kSource / "tests");
    std::set<std::string> headers{"BrokerProcess.h"};
    for (std::size_t before = 0; before != headers.size();) {
        before = headers.size();
        for (const auto& file : sources) {
            if (file.extension() == ".h" && includesOneOf(readFile(file), headers)) headers.insert(file.filename().string());
        }
    }
    std::vector<fs::path> list;
    for (const auto& file : sources) {
        if (file.extension() == ".cpp" && includesOneOf(readFile(file), headers)) list.push_back(file);
    }
    return list;
}

constexpr const char* kOneStore = "// One store: ";

/// Whether the test that begins there goes through the stores itself, or the line above it says why it does not.
bool isOnEachStore(const std::string& text, std::size_t at) {
    const auto above = text.rfind('\n', at - 2) + 1;
    const auto end = text.find("\nTEST", at);
    return text.compare(above, std::strlen(kOneStore), kOneStore) == 0 || text.substr(at, end - at).find("kStores") != std::string::npos;
}

/// Whether a suite with a parameter has each store among its values.
bool hasEachStore(const std::string& text, const std::string& suite) {
    if (text.find("PATCHBAY_ON_EACH_STORE(" + suite + ")") != std::string::npos) return true;
    return text.find(", " + suite + ",") != std::string::npos && text.find("storage-mmap") != std::string::npos &&
           text.find("storage-sqlite") != std::string::npos;
}

TEST(Style, TestsThatStartABrokerRunOnEachStoreOrSayWhyNot) {
    const auto files = testsWithABroker();
    EXPECT_GT(files.size(), 15U);
    for (const auto& file : files) {
        const auto text = readFile(file);
        if (text.substr(0, text.find("#include")).find(kOneStore) != std::string::npos) continue;
        for (auto at = text.find("\nTEST"); at != std::string::npos; at = text.find("\nTEST", at)) {
            ++at;
            const auto line = text.substr(at, text.find('\n', at) - at);
            const auto suite = line.substr(line.find('(') + 1, line.find(',') - line.find('(') - 1);
            EXPECT_TRUE(line.starts_with("TEST_P(") ? hasEachStore(text, suite) : isOnEachStore(text, at)) << file << ": " << line;
        }
    }
    for (const auto& entry : fs::recursive_directory_iterator(kSource / "tests")) {
        if (entry.path().extension() != ".sh") continue;
        const auto text = readFile(entry.path());
        if (text.find("ready in") == std::string::npos && text.find("dev up ") == std::string::npos) continue;
        const bool each = text.find("mmap") != std::string::npos && text.find("sqlite") != std::string::npos;
        EXPECT_TRUE(each || text.find("# One store: ") != std::string::npos) << entry.path();
    }
}

TEST(Style, GroupsOfInteropLeaveTheStoreToTheRunner) {
    const auto script = readFile(kSource / "tools/dev/interop");
    const auto first = script.find("tools/dev/up");
    EXPECT_NE(first, std::string::npos);
    EXPECT_EQ(script.find("tools/dev/up", first + 1), std::string::npos) << "brokers are started by up()";
    for (const char* store : {"store=mmap", "store=sqlite"}) EXPECT_EQ(script.find(store), std::string::npos) << store;
    // The rows of those that do not run on both.
    std::istringstream lines(readFile(kSource / "tests/interop/README.md"));
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("| ") || line.starts_with("| group ")) continue;
        EXPECT_NE(script.find("\ngroup_" + line.substr(2, line.find(' ', 2) - 2) + "() {"), std::string::npos) << "there is no such group: " << line;
    }
}

TEST(Style, EveryErrorNumberOfAPluginIsListed) {
    const auto list = readFile(kSource / "docs/errors.md");
    for (const auto& file : sourcesUnder(kSource / "plugins")) {
        const auto text = readFile(file);
        for (auto at = text.find("\"PB-"); at != std::string::npos; at = text.find("\"PB-", at + 1)) {
            const auto number = text.substr(at + 1, 7);
            EXPECT_NE(list.find("| " + number + " |"), std::string::npos) << file << ": " << number << " has no row in kernel/app/Errors.cpp";
        }
    }
}

TEST(Style, GeneratedDocumentsAreUpToDate) {
    const std::string program = PATCHBAY_BUILD_DIR "/bin/patchbay";
    const auto errors = outputOf(program + " --errors-doc");
    EXPECT_FALSE(errors.empty());
    EXPECT_EQ(readFile(kSource / "docs/errors.md"), errors) << "run: " << program << " --errors-doc > docs/errors.md";
    EXPECT_EQ(readFile(kSource / "docs/patchbay.1"), outputOf(program + " --manual")) << "run: " << program << " --manual > docs/patchbay.1";
    const auto config = program + " --config-doc -c " + (kSource / "etc/standalone.conf").string();
    EXPECT_EQ(readFile(kSource / "docs/configuration.md"), outputOf(config + " -D pluginDirectory=" + kPlugins.string()))
        << "run: " << config << " > docs/configuration.md";
    const auto defaults = program + " --default-config -c " + (kSource / "etc/standalone.conf").string();
    EXPECT_EQ(readFile(kSource / "etc/examples/every-key.conf"), outputOf(defaults + " -D pluginDirectory=" + kPlugins.string()))
        << "run: " << defaults << " > etc/examples/every-key.conf";
}

}  // namespace
