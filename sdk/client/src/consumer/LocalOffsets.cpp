// Progress of a broadcasting consumer, in a file.
#include "consumer/OffsetStore.h"
#include "patchbay/base/BackedFile.h"
#include "patchbay/protocol/json/Body.h"

#include <cstdlib>
#include <utility>

namespace patchbay::client {

namespace {

class LocalOffsets final : public OffsetStore {
public:
    LocalOffsets(ClientInstance& instance, FileSystem& files, std::string directory)
        : instance_(instance), files_(files), directory_(std::move(directory)), path_(directory_ + "/offsets.json") {
        const auto content = readBacked(files_, path_, [this](std::string_view text) { return load(text); });
        const auto problem = content ? content->problem : content.error().message();
        if (!problem.empty()) instance_.log().warn("progress in " + path_ + ": " + problem + "; consumption begins where ConsumerOptions::from says if it is lost");
    }

    void read(const MessageQueue& queue, Read done) override {
        const auto found = read_.find(queue);
        done(found == read_.end() ? std::optional<std::int64_t>() : std::optional<std::int64_t>(found->second));
    }

    void persist(const std::function<void()>& done) override {
        bool changed = false;
        for (auto& [queue, entry] : entries_) {
            if (entry.offset < 0 || entry.offset == entry.written) continue;
            read_[queue] = entry.written = entry.offset;
            changed = true;
        }
        const auto finish = [done](bool) {
            if (done) done();
        };
        if (changed) save(finish);
        else finish(true);
    }

private:
    void write(const MessageQueue& queue, std::int64_t offset, std::function<void(bool)> done) override {
        read_[queue] = offset;
        save(std::move(done));
    }

    Status load(std::string_view text) {
        auto document = json::Document::parse(text);
        if (!document) return document.error();
        if (!document->root()["offsetTable"].isObject()) return {StatusCode::Corrupt, "it has no offsetTable"};
        read_.clear();
        for (const auto& [key, value] : document->root()["offsetTable"]) {
            auto queue = MessageQueue::fromJson(key);
            const auto offset = value.integer();
            if (queue && offset) read_[*queue] = *offset;
        }
        return Status::ok();
    }

    // Writing waits for the disk, which the loop must not.
    void save(std::function<void(bool)> done) {
        std::string text;
        json::Writer writer(text, json::Dialect::Pretty);
        writer.beginObject();
        writer.key("offsetTable");
        writer.beginObject();
        for (const auto& [queue, offset] : read_) {
            writer.objectKey(queue.toJson());
            writer.integer(offset);
        }
        writer.endObject();
        writer.endObject();
        auto& runtime = instance_.runtime();
        runtime.resolver().post([&runtime, &files = files_, directory = directory_, path = path_, text = std::move(text), done = std::move(done)] {
            auto status = files.makeDirectories(directory);
            if (status) status = files.replaceAtomically(path, text, true);
            runtime.loop().post([done, good = status.isOk()] { done(good); });
        });
    }

    ClientInstance& instance_;
    FileSystem& files_;
    const std::string directory_;
    const std::string path_;
    std::map<MessageQueue, std::int64_t> read_;
};

std::string homeDirectory() {
    const char* home = std::getenv("HOME");
    return home != nullptr ? home : ".";
}

}  // namespace

std::unique_ptr<OffsetStore> makeLocalOffsets(ClientInstance& instance, const std::string& group, const std::string& directory) {
    const auto base = directory.empty() ? homeDirectory() + "/.rocketmq_offsets" : directory;
    return std::make_unique<LocalOffsets>(instance, systemFiles(), base + "/" + instance.clientId() + "/" + group);
}

}  // namespace patchbay::client
