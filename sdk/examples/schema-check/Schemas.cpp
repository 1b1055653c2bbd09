#include "Schemas.h"

#include <utility>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wshadow"
#include <rapidjson/document.h>
#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>
#include <rapidjson/schema.h>
#include <rapidjson/stringbuffer.h>
#pragma GCC diagnostic pop

namespace schema_check {

using namespace patchbay;

struct Schemas::Schema {
    explicit Schema(const rapidjson::Document& json) : document(json) {}
    const rapidjson::SchemaDocument document;
};

Schemas::~Schemas() = default;

Result<std::unique_ptr<const Schemas>> Schemas::read(FileSystem& files, const std::string& directory) {
    constexpr std::string_view kEnding = ".json";
    std::unique_ptr<Schemas> made(new Schemas);
    const auto entries = files.list(directory);
    if (!entries) return entries.error();
    for (const auto& entry : *entries) {
        if (entry.directory || !entry.name.ends_with(kEnding)) continue;
        const auto path = directory + "/" + entry.name;
        const auto text = files.readAll(path);
        if (!text) return text.error();
        rapidjson::Document json;
        json.Parse(text->data(), text->size());
        if (json.HasParseError()) {
            return Status(StatusCode::InvalidArgument, path + ": not JSON at byte " + std::to_string(json.GetErrorOffset()) + ": " +
                                                           rapidjson::GetParseError_En(json.GetParseError()));
        }
        made->byTopic_.emplace(entry.name.substr(0, entry.name.size() - kEnding.size()), std::make_unique<const Schema>(json));
    }
    return std::unique_ptr<const Schemas>(std::move(made));
}

Status Schemas::check(std::string_view topic, std::string_view body) const {
    const auto found = byTopic_.find(topic);
    if (found == byTopic_.end()) return Status::ok();
    // Validated while it is read: no tree of values is built.
    rapidjson::SchemaValidator validator(found->second->document);
    rapidjson::Reader reader;
    rapidjson::MemoryStream stream(body.data(), body.size());
    const auto parsed = reader.Parse<rapidjson::kParseIterativeFlag>(stream, validator);
    if (!validator.IsValid()) {
        rapidjson::StringBuffer where;
        validator.GetInvalidDocumentPointer().StringifyUriFragment(where);
        return {StatusCode::InvalidArgument, std::string("'") + validator.GetInvalidSchemaKeyword() + "' does not hold at " + where.GetString()};
    }
    if (parsed.IsError()) {
        return {StatusCode::InvalidArgument,
                "not JSON at byte " + std::to_string(parsed.Offset()) + ": " + rapidjson::GetParseError_En(parsed.Code())};
    }
    return Status::ok();
}

}  // namespace schema_check
