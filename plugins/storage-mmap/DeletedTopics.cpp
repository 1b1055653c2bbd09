#include "DeletedTopics.h"

#include <charconv>

namespace patchbay::mmapstore {

Status DeletedTopics::open(std::int64_t logMin) {
    until_.clear();
    const Result<std::string> text = files_.readAll(path_);
    if (!text && text.error().code() == StatusCode::NotFound) return Status::ok();
    if (!text) return text.error();
    std::string_view rest = *text;
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        const std::string_view line = rest.substr(0, end);
        rest.remove_prefix(std::min(rest.size(), end + 1));
        std::int64_t position = -1;
        const auto [at, error] = std::from_chars(line.data(), line.data() + line.size(), position);
        const std::string_view name = line.substr(static_cast<std::size_t>(at - line.data()));
        if (error != std::errc() || position < 0 || name.size() < 2 || name.front() != ' ') {
            return {StatusCode::Corrupt, path_ + " is not a list of deleted topics; remove it to see their messages again"};
        }
        if (position > logMin) until_.insert_or_assign(std::string(name.substr(1)), position);
    }
    return Status::ok();
}

Status DeletedTopics::add(std::string_view topic, std::int64_t position) {
    if (topic.find('\n') != std::string_view::npos) return {StatusCode::InvalidArgument, "a topic's name has no line breaks"};
    until_.insert_or_assign(std::string(topic), position);
    return write();
}

Status DeletedTopics::endAt(std::int64_t position) {
    bool changed = false;
    for (auto& [name, until] : until_) {
        if (until <= position) continue;
        until = position;
        changed = true;
    }
    return changed ? write() : Status::ok();
}

Status DeletedTopics::write() const {
    std::string text;
    for (const auto& [name, until] : until_) text.append(std::to_string(until)).append(" ").append(name).append("\n");
    return files_.replaceAtomically(path_, text, false);
}

}  // namespace patchbay::mmapstore
