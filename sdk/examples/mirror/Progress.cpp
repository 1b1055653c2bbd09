#include "Progress.h"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace mirror {

using namespace patchbay;

namespace {

std::string_view cut(std::string_view& text, char end) {
    const auto at = std::min(text.find(end), text.size());
    const auto word = text.substr(0, at);
    text.remove_prefix(std::min(at + 1, text.size()));
    return word;
}

bool number(std::string_view word, std::int64_t& out) {
    const auto read = std::from_chars(word.data(), word.data() + word.size(), out);
    return read.ec == std::errc() && read.ptr == word.data() + word.size();
}

}  // namespace

Status Progress::load(const std::vector<std::string>& topics) {
    if (!files_.exists(path_)) return Status::ok();
    const auto text = files_.readAll(path_);
    if (!text) return text.error();
    std::string_view rest = *text;
    for (int line = 1; !rest.empty(); ++line) {
        auto words = cut(rest, '\n');
        const std::string topic(cut(words, ' '));
        std::int64_t queue = 0;
        std::int64_t next = 0;
        if (topic.empty() || !number(cut(words, ' '), queue) || !number(cut(words, ' '), next) || !words.empty() || next < 0) {
            return {StatusCode::Corrupt, path_ + ":" + std::to_string(line) + ": not a line \"topic queue next\"; without the file the mirror begins anew"};
        }
        if (std::ranges::find(topics, topic) == topics.end()) continue;
        known_.insert(topic);
        if (queue >= 0) next_[{topic, static_cast<std::int32_t>(queue)}] = next;
    }
    return Status::ok();
}

Status Progress::save() {
    if (!changed_) return Status::ok();
    std::string text;
    for (const auto& topic : known_) text += topic + " -1 0\n";
    for (const auto& [queue, next] : next_) text += queue.first + " " + std::to_string(queue.second) + " " + std::to_string(next) + "\n";
    if (auto made = files_.makeDirectories(directoryOf(path_)); !made) return made;
    if (auto written = files_.replaceAtomically(path_, text, false); !written) return written;
    changed_ = false;
    return Status::ok();
}

void Progress::know(const std::string& topic) {
    changed_ = known_.insert(topic).second || changed_;
}

std::optional<std::int64_t> Progress::next(const std::string& topic, std::int32_t queueId) const {
    const auto found = next_.find({topic, queueId});
    return found == next_.end() ? std::nullopt : std::optional(found->second);
}

void Progress::set(const std::string& topic, std::int32_t queueId, std::int64_t next) {
    next_[{topic, queueId}] = next;
    changed_ = true;
}

}  // namespace mirror
