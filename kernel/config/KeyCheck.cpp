#include "config/KeyCheck.h"

#include "config/RocketmqKeys.h"

#include <algorithm>
#include <numeric>

namespace patchbay::kernel {

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

std::vector<std::string> knownWords(std::span<const KeyOwner> owners) {
    std::vector<std::string> words;
    for (const auto& owner : owners) {
        for (const auto& [name, item] : owner.values->items()) {
            words.push_back(name);
            words.insert(words.end(), item.spec.aliases.begin(), item.spec.aliases.end());
        }
    }
    for (const auto& key : rocketmqKeys()) words.emplace_back(key.name);
    return words;
}

class Checker {
public:
    Checker(std::span<const KeyOwner> owners, Problems& problems)
        : owners_(owners), words_(knownWords(owners)), problems_(problems) {}

    void common(const Assignment& assignment) {
        if (isServiceKey(assignment.key) || switchedPlugin(assignment.key)) return;
        for (const auto& owner : owners_) {
            if (owner.values->find(assignment.key) != nullptr) return;
        }
        unowned(assignment);
    }

    void ofPlugin(const Assignment& assignment, const KeyOwner& owner) {
        if (owner.values->find(assignment.key) != nullptr) return;
        for (const auto& other : owners_) {
            if (other.values->find(assignment.key) == nullptr) continue;
            problems_.add(ErrorNumber::UnknownKey, assignment.where,
                          assignment.key + " is not a key of plugin " + owner.name + " but of " + other.name +
                              "; set it in the main file" + (other.file == nullptr ? "" : " or in " + other.file->path));
            return;
        }
        unowned(assignment);
    }

    UnusedKeys unused;

private:
    void unowned(const Assignment& assignment) {
        if (isExecutorKey(assignment.key)) {
            ExecutorOverrides ignored;
            if (const auto wrong = applyExecutorKey(assignment.key, assignment.value, ignored)) {
                problems_.add(ErrorNumber::BadExecutor, assignment.where, assignment.key + ": " + *wrong);
            }
            return;
        }
        if (const auto* key = findRocketmqKey(assignment.key)) return withoutEffect(*key, assignment);
        const auto near = nearest(assignment.key, words_);
        problems_.add(ErrorNumber::UnknownKey, assignment.where,
                      "unknown key '" + assignment.key + "'" + (near.empty() ? "" : "; did you mean " + near + "?"));
    }

    void withoutEffect(const RocketmqKey& key, const Assignment& assignment) {
        if (key.kind == RocketmqKey::Kind::Promise && assignment.value != "false") {
            problems_.add(ErrorNumber::NotAChoice, assignment.where,
                          assignment.key + ": '" + assignment.value + "' asks for what no enabled plugin does; only false is taken");
        } else if (key.kind == RocketmqKey::Kind::Path) {
            unused.paths.push_back(assignment);
        } else {
            unused.plain.push_back(assignment.key);
        }
    }

    std::span<const KeyOwner> owners_;
    std::vector<std::string> words_;
    Problems& problems_;
};

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

UnusedKeys checkKeys(const ConfigSources& sources, std::span<const KeyOwner> owners, Problems& problems) {
    Checker checker(owners, problems);
    for (const auto& assignment : sources.common()) checker.common(assignment);
    for (const auto& owner : owners) {
        if (owner.file == nullptr) continue;
        for (const auto& assignment : owner.file->assignments) checker.ofPlugin(assignment, owner);
    }
    return std::move(checker.unused);
}

}  // namespace patchbay::kernel
