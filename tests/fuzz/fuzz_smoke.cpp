// Proves that the fuzz target it is linked with holds for its corpus and for a fixed series of mutations of it.
// How: one generator with a fixed seed, so that a failure is the same on every machine.
// Left to others: finding new inputs (the libFuzzer programs).
#include "patchbay/base/FileSystem.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr int kMutations = 60'000;

void run(std::string_view input) {
    // Exactly as large as the input, so that a sanitizer sees a step beyond it.
    const std::vector<std::uint8_t> bytes(input.begin(), input.end());
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

// In the order of their names: the mutations have to be the same everywhere.
std::vector<std::string> seeds() {
    std::vector<std::string> texts;
    const auto entries = patchbay::systemFiles().list(FUZZ_CORPUS);
    if (!entries) return texts;
    for (const patchbay::FileInfo& entry : *entries) {
        texts.push_back(patchbay::systemFiles().readAll(FUZZ_CORPUS "/" + entry.name).value());
    }
    return texts;
}

class Mutator {
public:
    explicit Mutator(const std::vector<std::string>& inputs) : inputs_(inputs) {}

    std::string next() {
        std::string text = pick(inputs_);
        for (std::size_t left = 1 + below(4); left > 0; --left)
            mutate(text);
        return text;
    }

private:
    std::size_t below(std::size_t limit) { return static_cast<std::size_t>(random_() % limit); }
    const std::string& pick(const std::vector<std::string>& from) { return from[below(from.size())]; }

    void mutate(std::string& text) {
        static constexpr std::string_view kBytes("\0\xFF\x7F\x80\"\\'{}[]:,u0\n\x01\x02", 18);
        const std::size_t at = below(text.size() + 1);
        const std::size_t some = 1 + below(8);
        switch (below(6)) {
            case 0:
                text.insert(at, 1, kBytes[below(kBytes.size())]);
                break;
            case 1:
                text.erase(at, some);
                break;
            case 2:
                text.replace(at, 1, 1, kBytes[below(kBytes.size())]);
                break;
            case 3:
                text.replace(at, 1, 1, static_cast<char>(static_cast<unsigned char>(below(256))));
                break;
            case 4:
                text.insert(at, text.substr(below(text.size() + 1), some));
                break;
            default:
                splice(text, at);
                break;
        }
    }
    void splice(std::string& text, std::size_t at) {
        const std::string& other = pick(inputs_);
        text = text.substr(0, at) + other.substr(below(other.size() + 1));
    }

    const std::vector<std::string>& inputs_;
    std::mt19937_64 random_{20240229};
};

TEST(FuzzTarget, HoldsForItsCorpusAndForMutationsOfIt) {
    const std::vector<std::string> inputs = seeds();
    ASSERT_FALSE(inputs.empty()) << "nothing in " << FUZZ_CORPUS;
    run({});
    for (const std::string& input : inputs)
        run(input);
    Mutator mutator(inputs);
    for (int i = 0; i < kMutations; ++i)
        run(mutator.next());
}

}  // namespace
