// Prints how many evaluations of a selector one core does in a second of its own time.
//   sql92_bench ["a > 5 AND b = 'x'"]
#include "Compiler.h"

#include <cstdio>
#include <ctime>
#include <string>

namespace {

double cpuSeconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

std::string properties() {
    std::string text;
    for (const auto* entry : {"UNIQ_KEY\1" "7F0000010A2B18B4AAC2123456780000", "TAGS\1TagA", "KEYS\1key-1", "a\1" "17", "b\1x", "WAIT\1true",
                              "MSG_REGION\1" "DefaultRegion", "TRACE_ON\1true", "CLUSTER\1" "DefaultCluster"}) {
        (text += entry) += '\2';
    }
    return text;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string selector = argc > 1 ? argv[1] : "a > 5 AND b = 'x'";
    const auto compiled = patchbay::plugins::filter::Compiler::compile(selector);
    if (!compiled) {
        std::fprintf(stderr, "%s\n", compiled.error().message().c_str());
        return 1;
    }
    const std::string text = properties();
    constexpr long kTimes = 5'000'000;
    long matched = 0;
    const double start = cpuSeconds();
    for (long i = 0; i < kTimes; ++i) matched += compiled->program->matches(text) ? 1 : 0;
    const double seconds = cpuSeconds() - start;
    std::printf("%s: %.1f million a second, %ld of %ld match\n", selector.c_str(), static_cast<double>(kTimes) / seconds / 1e6, matched, kTimes);
    return 0;
}
