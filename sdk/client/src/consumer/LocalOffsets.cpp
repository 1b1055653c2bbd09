// Progress of a broadcasting consumer, in a file.
#include "consumer/OffsetStore.h"
#include "patchbay/base/BackedFile.h"
#include "patchbay/protocol/json/Body.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace patchbay::client {

namespace {

class LocalOffsets final : public OffsetStore {
public:
    LocalOffsets(ClientInstance& instance, FileSystem& files, std::string directory)
        : instance_(instance), files_(files), directory_(std::move(directory)), path_(directory_ + "/offsets.json"),
          alive_(std::make_shared<LocalOffsets*>(this)) {
        const auto content = readBacked(files_, path_, [this](std::string_view text) { return load(text); });
        const auto problem = content ? content->problem : content.error().message();
        if (!problem.empty()) instance_.log().warn("progress in " + path_ + ": " + problem + "; consumption begins where ConsumerOptions::from says if it is lost");
    }

    ~LocalOffsets() override { *alive_ = nullptr; }

    void read(const MessageQueue& queue, Read done) override {
        const auto found = table_.find(queue);
        done(found == table_.end() ? std::optional<std::int64_t>() : std::optional<std::int64_t>(found->second));
    }

    void persist(const Written& done) override {
        for (auto& [queue, entry] : entries_) {
            if (entry.offset >= 0 && entry.offset != entry.written) put(queue, entry.written = entry.offset);
        }
        const auto finish = done ? done : [](const Status&) {};
        if (saved_ == changes_) finish(Status::ok());
        else save(finish);
    }

private:
    void put(const MessageQueue& queue, std::int64_t offset) {
        table_[queue] = offset;
        ++changes_;
    }

    void write(const MessageQueue& queue, std::int64_t offset, Written done) override {
        put(queue, offset);
        save(std::move(done));
    }

    // Whatever it was about, the file lacks it until a later save succeeds, and persist() tries again because saved_ is behind.
    void saved(std::uint64_t changes, const Status& status) {
        if (status) {
            saved_ = std::max(saved_, changes);
            if (std::exchange(failing_, false)) instance_.log().info("progress is written to " + path_ + " again");
        } else if (!std::exchange(failing_, true)) {
            instance_.log().warn("progress cannot be written to " + path_ + ", which is tried again: " + status.message());
        }
    }

    Status load(std::string_view text) {
        auto document = json::Document::parse(text);
        if (!document) return document.error();
        if (!document->root()["offsetTable"].isObject()) return {StatusCode::Corrupt, "it has no offsetTable"};
        table_.clear();
        for (const auto& [key, value] : document->root()["offsetTable"]) {
            auto queue = MessageQueue::fromJson(key);
            const auto offset = value.integer();
            if (queue && offset) table_[*queue] = *offset;
        }
        return Status::ok();
    }

    // Writing waits for the disk, which the loop must not.
    void save(Written done) {
        std::string text;
        json::Writer writer(text, json::Dialect::Pretty);
        writer.beginObject();
        writer.key("offsetTable");
        writer.beginObject();
        for (const auto& [queue, offset] : table_) {
            writer.objectKey(queue.toJson());
            writer.integer(offset);
        }
        writer.endObject();
        writer.endObject();
        auto& runtime = instance_.runtime();
        runtime.resolver().post([&runtime, &files = files_, directory = directory_, path = path_, text = std::move(text), alive = alive_, changes = changes_,
                                 done = std::move(done)] {
            auto status = files.makeDirectories(directory);
            if (status) status = files.replaceAtomically(path, text, true);
            runtime.loop().post([alive, changes, status, done] {
                if (*alive != nullptr) (*alive)->saved(changes, status);
                done(status);
            });
        });
    }

    ClientInstance& instance_;
    FileSystem& files_;
    const std::string directory_;
    const std::string path_;
    std::map<MessageQueue, std::int64_t> table_;  // as the file has it, or is to have it
    std::uint64_t changes_ = 0;                   // of the table
    std::uint64_t saved_ = 0;                     // that many of them are in the file
    bool failing_ = false;
    const std::shared_ptr<LocalOffsets*> alive_;  // null when this is gone
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
