#include "StopMark.h"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace patchbay::mmapstore {

namespace {

constexpr std::uint64_t kBytesMax = std::uint64_t{1} << 30;

/// Takes a number and the blank behind it off the front of a line.
bool take(std::string_view& line, std::int64_t& number) noexcept {
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
    if (error != std::errc()) return false;
    line.remove_prefix(static_cast<std::size_t>(end - line.data()));
    if (line.empty()) return true;
    if (line.front() != ' ') return false;
    line.remove_prefix(1);
    return true;
}

bool parse(std::string_view line, StopMark& mark) {
    const char kind = line.front();
    line.remove_prefix(std::min<std::size_t>(2, line.size()));
    if (kind == 'l') return take(line, mark.logEnd);
    if (kind == 'q' || kind == 'b') {
        StopMark::Queue queue;
        std::int64_t id = 0;
        if (!take(line, id) || !take(line, queue.firstFile) || !take(line, queue.max) || !take(line, queue.newest)) return false;
        queue.units = queue.max;
        if (kind == 'b') {
            queue.kind = QueueKind::Batch;
            if (!take(line, queue.units)) return false;
        }
        queue.id = static_cast<std::int32_t>(id);
        queue.topic = line;
        mark.queues.push_back(std::move(queue));
        return !line.empty();
    }
    if (kind == 'i') {
        StopMark::Index index;
        if (!take(line, index.count) || !take(line, index.endPhysical)) return false;
        index.name = line;
        mark.indexes.push_back(std::move(index));
        return !line.empty();
    }
    return false;
}

}  // namespace

std::optional<StopMark> StopMark::read(FileSystem& files, const std::string& path) {
    if (!files.exists(path)) return std::nullopt;
    const Result<std::string> text = files.readAll(path, kBytesMax);
    if (!text) return std::nullopt;
    StopMark mark;
    std::int64_t lines = 0;
    for (std::string_view rest = *text; !rest.empty(); ++lines) {
        const std::size_t end = rest.find('\n');
        if (end == 0 || end == std::string_view::npos) return std::nullopt;
        std::string_view line = rest.substr(0, end);
        rest.remove_prefix(end + 1);
        if (rest.empty()) {
            std::int64_t promised = -1;
            line.remove_prefix(std::min<std::size_t>(2, line.size()));
            return take(line, promised) && promised == lines ? std::optional(std::move(mark)) : std::nullopt;
        }
        if (!parse(line, mark)) return std::nullopt;
    }
    return std::nullopt;
}

Status StopMark::write(FileSystem& files, const std::string& path) const {
    std::string text = "l " + std::to_string(logEnd) + "\n";
    for (const Queue& queue : queues) {
        text.append(queue.kind == QueueKind::Batch ? "b " : "q ").append(std::to_string(queue.id)).append(" ").append(std::to_string(queue.firstFile));
        text.append(" ").append(std::to_string(queue.max)).append(" ").append(std::to_string(queue.newest));
        if (queue.kind == QueueKind::Batch) text.append(" ").append(std::to_string(queue.units));
        text.append(" ").append(queue.topic).append("\n");
    }
    for (const Index& index : indexes) {
        text.append("i ").append(std::to_string(index.count)).append(" ").append(std::to_string(index.endPhysical));
        text.append(" ").append(index.name).append("\n");
    }
    text.append("e ").append(std::to_string(1 + queues.size() + indexes.size())).append("\n");
    return files.replaceAtomically(path, text, false);
}

}  // namespace patchbay::mmapstore
