#include "patchbay/base/Nearest.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace patchbay {

namespace {

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// Levenshtein's distance, without regard to case.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t change = diagonal + (lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, change});
        }
    }
    return row[b.size()];
}

}  // namespace

std::string nearest(std::string_view word, std::span<const std::string> known) {
    std::string best;
    std::size_t bestDistance = std::max<std::size_t>(2, word.size() / 4) + 1;
    for (const auto& candidate : known) {
        const auto gap = candidate.size() > word.size() ? candidate.size() - word.size() : word.size() - candidate.size();
        if (gap >= bestDistance) continue;
        const auto edits = distance(word, candidate);
        if (edits < bestDistance) {
            bestDistance = edits;
            best = candidate;
        }
    }
    return best;
}

std::string didYouMean(std::string_view word, std::span<const std::string> known) {
    const std::string near = nearest(word, known);
    return near.empty() ? near : "; did you mean " + near + "?";
}

}  // namespace patchbay
