#include "config/KeyCheck.h"

#include "config/RocketmqKeys.h"
#include "patchbay/base/Nearest.h"

namespace patchbay::kernel {

namespace {

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

/// Plugins that are not loaded may take a size or a time where RocketMQ has a plain number.
std::optional<ValueError> wrongIn(const RocketmqKey& key, std::string_view text, ConfigValue& value) {
    const auto parse = [&](plugin::ConfigType type) { return parseValue(KeySpec({key.name, type, "", ""}), text, "", value); };
    auto wrong = parse(key.type);
    if (!wrong || key.type != plugin::ConfigType::Int) return wrong;
    if (!parse(plugin::ConfigType::Bytes) || !parse(plugin::ConfigType::Millis)) return std::nullopt;
    return wrong;
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
        problems_.add(ErrorNumber::UnknownKey, assignment.where, "unknown key '" + assignment.key + "'" + didYouMean(assignment.key, words_));
    }

    void withoutEffect(const RocketmqKey& key, const Assignment& assignment) {
        ConfigValue value;
        if (const auto wrong = wrongIn(key, assignment.value, value)) {
            problems_.add(wrong->number, assignment.where, assignment.key + ": " + wrong->text);
        } else if (key.kind == RocketmqKey::Kind::Promise && value.flag) {
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

void checkRepeated(const Assignment& assignment, std::span<const KeyOwner> owners, Problems& problems) {
    if (assignment.trailingComment) return;
    for (const auto& owner : owners) {
        const auto* item = owner.values->find(assignment.key);
        if (item == nullptr) continue;
        ConfigValue ignored;
        const auto wrong = parseValue(item->spec, assignment.value, assignment.baseDirectory, ignored);
        if (wrong) problems.add(wrong->number, assignment.where, assignment.key + ": " + wrong->text);
        return;
    }
}

}  // namespace

void checkRepeatedKeys(const ConfigSources& sources, std::span<const KeyOwner> owners, Problems& problems) {
    for (const auto& assignment : sources.repeated()) checkRepeated(assignment, owners, problems);
    for (const auto& owner : owners) {
        if (owner.file == nullptr) continue;
        for (const auto& assignment : owner.file->repeated) checkRepeated(assignment, owners, problems);
    }
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
