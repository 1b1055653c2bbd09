#include "JournaledFile.h"

#include "patchbay/base/BackedFile.h"
#include "patchbay/protocol/json/Writer.h"
#include "patchbay/protocol/util/Crc32.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace patchbay::plugins::topics {

namespace {

constexpr std::size_t kCrcDigits = 8;

/// "crc json\n": a torn or foreign line is told from a whole one without trusting its content.
std::string withCrc(std::string_view json) {
    static constexpr char kHex[] = "0123456789abcdef";
    const std::uint32_t crc = protocol::crc32(json);
    std::string line;
    line.reserve(json.size() + kCrcDigits + 2);
    for (int shift = 28; shift >= 0; shift -= 4) line += kHex[(crc >> shift) & 15U];
    line += ' ';
    line += json;
    line += '\n';
    return line;
}

/// The JSON of the first line of `rest`, which moves behind it; nothing when that line is not whole.
std::optional<std::string_view> takeLine(std::string_view& rest) {
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos || end <= kCrcDigits + 1) return std::nullopt;
    std::uint32_t crc = 0;
    const auto [stop, error] = std::from_chars(rest.data(), rest.data() + kCrcDigits, crc, 16);
    if (error != std::errc{} || stop != rest.data() + kCrcDigits || rest[kCrcDigits] != ' ') return std::nullopt;
    const std::string_view json = rest.substr(kCrcDigits + 1, end - kCrcDigits - 1);
    if (protocol::crc32(json) != crc) return std::nullopt;
    rest.remove_prefix(end + 1);
    return json;
}

std::string versionLine(std::string_view key, const protocol::DataVersion& version) {
    std::string json;
    json::Writer out(json);
    out.beginObject();
    out.key(key);
    version.write(out);
    out.endObject();
    return withCrc(json);
}

}  // namespace

struct JournaledFile::Line {
    json::Document document;
    protocol::DataVersion version;
};

JournaledFile::JournaledFile(plugin::PluginContext& context, const std::string& fileName, JournalRules rules, WholeText wholeText)
    : context_(context), path_(context.identity().storeRoot + "/config/" + fileName), rules_(rules), wholeText_(std::move(wholeText)) {}

Status JournaledFile::load(const AcceptText& accept, const ApplyChange& apply) {
    FileSystem& files = context_.files();
    baseVersion_.timestamp = context_.clock().wallMs();
    Result<BackedContent> content = readBacked(files, path_, [&](std::string_view text) -> Status {
        Result<protocol::DataVersion> version = accept(text);
        if (!version) return version.error();
        baseVersion_ = *version;
        jsonSize_ = text.size();
        return Status::ok();
    });
    if (!content) return content.error();
    if (!content->problem.empty()) {
        const bool backup = content->source == BackedContent::Source::Backup;
        context_.log().error(backup ? "configuration file damaged, its backup is used" : "configuration file damaged, starting without",
                             {{"file", path_}, {"problem", content->problem}});
    }

    const std::string journalPath = path_ + ".journal";
    if (!files.exists(journalPath)) return Status::ok();
    Result<std::string> text = files.readAll(journalPath, UINT64_MAX);
    if (!text) return text.error();
    if (text->empty()) return Status::ok();
    size_ = replay(*text, content->source != BackedContent::Source::Main, baseVersion_, apply);
    // The journal continues a state of its own time, so a new one should begin before the next change; on a full disk the
    // broker still serves what it has.
    static_cast<void>(foldAndLog());
    return Status::ok();
}

std::uint64_t JournaledFile::replay(std::string_view text, bool fromBackup, const protocol::DataVersion& version, const ApplyChange& apply) {
    std::vector<Line> lines;
    protocol::DataVersion base;
    std::string_view rest = text;
    while (auto json = takeLine(rest)) {
        Result<json::Document> document = json::Document::parse(*json);
        if (!document) break;
        if (const json::Value first = document->root()["base"]; first.exists()) {
            if (auto read = protocol::DataVersion::read(first)) base = *read;
            continue;
        }
        auto read = protocol::DataVersion::read(document->root()["dataVersion"]);
        if (!read) break;
        lines.push_back({std::move(*document), *read});
    }
    if (!rest.empty()) {
        context_.log().warn("the journal ends in a line that was never finished", {{"file", path_}, {"bytes", rest.size()}});
    }

    auto from = lines.begin();
    bool foreign = false;
    if (!fromBackup && base != version) {
        const auto same = std::find_if(lines.begin(), lines.end(), [&](const Line& line) { return line.version == version; });
        foreign = same == lines.end();
        if (!foreign) from = same + 1;
    }
    if (foreign && !lines.empty()) {
        context_.log().warn("the file was written by another broker after the journal; only what it lacks is taken over",
                            {{"file", path_}, {"changes", lines.size()}});
    }
    for (; from != lines.end(); ++from) {
        const json::Value root = from->document.root();
        apply({from->version, root["put"], root["remove"].string().value_or(std::string_view{}), foreign});
    }
    return text.size() - rest.size();
}

Status JournaledFile::appendPut(const protocol::DataVersion& version, std::string_view json) { return append(version, "put", json); }

Status JournaledFile::appendRemoval(const protocol::DataVersion& version, std::string_view name) {
    std::string quoted;
    json::Writer(quoted).string(name);
    return append(version, "remove", quoted);
}

Status JournaledFile::append(const protocol::DataVersion& version, std::string_view key, std::string_view value) {
    if (Status opened = open(); !opened) return opened;
    std::string json;
    json::Writer out(json);
    out.beginObject();
    out.key("dataVersion");
    version.write(out);
    out.key(key);
    out.raw(value);
    out.endObject();
    std::string bytes = size_ == 0 ? versionLine("base", baseVersion_) : std::string{};
    bytes += withCrc(json);
    if (Status written = journal_->writeAt(bytes, size_); !written) return written;
    size_ += bytes.size();
    lastChange_ = context_.clock().now();
    schedule();
    return Status::ok();
}

Status JournaledFile::open() {
    if (journal_) return Status::ok();
    FileSystem& files = context_.files();
    if (Status made = files.makeDirectories(directoryOf(path_)); !made) return made;
    Result<std::unique_ptr<File>> file = files.open(path_ + ".journal", OpenMode::Create);
    if (!file) return file.error();
    journal_ = std::move(*file);
    return Status::ok();
}

void JournaledFile::schedule() {
    plugin::Timers& timers = context_.timers();
    if (!std::exchange(syncPending_, true)) timers.after(rules_.sync, [this] { syncNow(); });
    if (!std::exchange(quietPending_, true)) timers.after(rules_.quiet, [this] { foldWhenQuiet(); });
    const bool large = size_ - folded_ > std::max(rules_.bytesMax, jsonSize_);
    if (large && !std::exchange(foldPending_, true)) timers.post([this] { static_cast<void>(foldAndLog()); });
}

void JournaledFile::syncNow() {
    {
        const auto lock = lockChanges();
        syncPending_ = false;
    }
    // The file stays open until stop(), which no timer outlives.
    Status synced = journal_->sync();
    if (synced && !nameSynced_) {
        synced = context_.files().syncDirectory(directoryOf(path_));
        nameSynced_ = synced.isOk();
    }
    if (synced) return;
    context_.log().limited(plugin::LogLevel::Error, "a journal cannot be made durable",
                           {{"file", path_}, {"problem", synced.message()}});
    // What a failed sync left behind may be gone although the next one succeeds; the whole table in a new file is not.
    if (foldAndLog()) return;
    const auto lock = lockChanges();
    if (!std::exchange(quietPending_, true)) context_.timers().after(rules_.quiet, [this] { foldWhenQuiet(); });
}

void JournaledFile::foldWhenQuiet() {
    {
        const auto lock = lockChanges();
        quietPending_ = false;
        if (size_ == 0) return;
        const auto age = context_.clock().now() - lastChange_;
        if (age < rules_.quiet) {
            quietPending_ = true;
            const auto left = std::chrono::ceil<std::chrono::milliseconds>(rules_.quiet - age);
            context_.timers().after(left, [this] { foldWhenQuiet(); });
            return;
        }
    }
    if (foldAndLog()) return;
    const auto lock = lockChanges();
    if (!std::exchange(quietPending_, true)) context_.timers().after(rules_.quiet, [this] { foldWhenQuiet(); });
}

Status JournaledFile::foldAndLog() {
    Status done = fold();
    if (!done) {
        context_.log().limited(plugin::LogLevel::Error, "changes stay in the journal because the file cannot be written",
                               {{"file", path_}, {"problem", done.message()}});
    }
    return done;
}

Status JournaledFile::fold() {
    const std::lock_guard one(foldMutex_);
    protocol::DataVersion version;
    std::string text;
    std::uint64_t covered = 0;
    {
        const auto lock = lockChanges();
        foldPending_ = false;
        if (Status opened = open(); !opened) return opened;
        text = wholeText_(version);
        covered = size_;
    }
    if (Status replaced = context_.files().replaceAtomically(path_, text, true); !replaced) return replaced;
    const auto lock = lockChanges();
    jsonSize_ = text.size();
    folded_ = covered;
    // Changes that came meanwhile stay behind the lines that the file has already; their versions tell them apart.
    if (size_ != covered) return Status::ok();
    if (Status cut = journal_->truncate(0); !cut) return cut;
    size_ = folded_ = 0;
    baseVersion_ = version;
    return Status::ok();
}

void JournaledFile::stop() noexcept {
    if (!journal_) return;  // nothing was ever changed
    if (size_ > 0 && !foldAndLog()) return;
    journal_.reset();
    if (Status removed = context_.files().remove(path_ + ".journal"); !removed) {
        context_.log().warn("an empty journal could not be removed", {{"file", path_}, {"problem", removed.message()}});
    }
}

}  // namespace patchbay::plugins::topics
