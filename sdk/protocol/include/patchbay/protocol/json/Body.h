// What turns the structs of route/ into bodies and back. A body type T has
//   void write(json::Writer&) const;   and   static Result<T> read(json::Value);
#pragma once

#include "patchbay/protocol/json/Value.h"
#include "patchbay/protocol/json/Writer.h"

#include <string>
#include <string_view>

namespace patchbay::json {

template <typename T>
[[nodiscard]] std::string encode(const T& body, Dialect dialect = Dialect::Fastjson) {
    std::string text;
    Writer writer(text, dialect);
    body.write(writer);
    return text;
}

template <typename T>
[[nodiscard]] Result<T> decode(std::string_view text, const ReadOptions& options = {}) {
    auto document = Document::parse(text, options);
    if (!document) return document.error();
    return T::read(document->root());
}

}  // namespace patchbay::json
