// Schemas: JSON schemas by topic, and what they say of a text.
#pragma once

#include "patchbay/base/FileSystem.h"
#include "patchbay/base/Result.h"

#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace schema_check {

/// Constant once read; used by several threads.
class Schemas {
public:
    /// From `directory`/TOPIC.json. InvalidArgument for a file that is no JSON, Io and others for a directory that cannot be read.
    static patchbay::Result<std::unique_ptr<const Schemas>> read(patchbay::FileSystem& files, const std::string& directory);
    ~Schemas();

    [[nodiscard]] bool has(std::string_view topic) const { return byTopic_.find(topic) != byTopic_.end(); }
    /// Ok also for topics without a schema. The text says where the body is wrong and which rule it breaks.
    [[nodiscard]] patchbay::Status check(std::string_view topic, std::string_view body) const;

private:
    struct Schema;
    Schemas() = default;
    std::map<std::string, std::unique_ptr<const Schema>, std::less<>> byTopic_;
};

}  // namespace schema_check
