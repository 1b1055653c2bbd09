// A tolerant JSON reader for bodies and configuration files, in the dialect that fastjson writes and accepts.
#pragma once

#include "patchbay/base/Result.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::json {

enum class Type : std::uint8_t { Null, Bool, Integer, Double, String, Array, Object, Ref };

/// What is accepted, and how much of it.
struct ReadOptions {
    bool strict = false;          ///< only what RFC 8259 allows
    std::uint32_t depthMax = 64;  ///< arrays and objects inside each other
    std::size_t bytesMax = std::size_t{64} << 20;
    std::size_t nodesMax = std::size_t{4} << 20;  ///< values in the whole text; 40 bytes of memory each
};

/// One value of the text, in document order; the value behind it is `span` nodes on. Internal to this header.
struct Node {
    std::string_view key;  ///< of the member that this value belongs to
    union {
        std::int64_t integer;
        double number;
        const char* text;
    } as{};
    std::uint32_t length = 0;  ///< of a string; of a Ref: distance back to what it refers to
    std::uint32_t span = 1;    ///< nodes of this value, itself included
    std::uint32_t count = 0;   ///< elements or members
    Type type = Type::Null;
};

/// A handle to a value inside a Document, or to nothing. Copies freely; valid as long as the Document and its text.
/// Every query on nothing gives nothing, so that chains need no checks. Thread-safe to read.
class Value {
public:
    Value() noexcept = default;
    explicit Value(const Node* node) noexcept;

    [[nodiscard]] bool exists() const noexcept { return node_ != nullptr; }
    [[nodiscard]] Type type() const noexcept { return node_ == nullptr ? Type::Null : node_->type; }
    /// Absent or JSON null: the same for every body of RocketMQ.
    [[nodiscard]] bool isNull() const noexcept { return type() == Type::Null; }
    [[nodiscard]] bool isObject() const noexcept { return type() == Type::Object; }
    [[nodiscard]] bool isArray() const noexcept { return type() == Type::Array; }

    /// A whole number, also one inside a string or with a fraction of zero; nothing otherwise, or beyond 64 bits.
    [[nodiscard]] std::optional<std::int64_t> integer() const noexcept;
    [[nodiscard]] std::optional<double> number() const noexcept;
    /// true, false, the same words in a string, or 0 and 1.
    [[nodiscard]] std::optional<bool> boolean() const noexcept;
    /// Strings only; unescaped UTF-8.
    [[nodiscard]] std::optional<std::string_view> string() const noexcept;
    /// Strings as they are, numbers and truth values as text; nothing for null, arrays and objects.
    [[nodiscard]] std::optional<std::string> text() const;

    /// The member of that name; of several the last. Time grows with the number of members.
    [[nodiscard]] Value operator[](std::string_view key) const noexcept;
    /// Elements of an array or members of an object.
    [[nodiscard]] std::size_t size() const noexcept;

    struct Item;
    class Iterator;
    [[nodiscard]] Iterator begin() const noexcept;
    [[nodiscard]] Iterator end() const noexcept;

private:
    const Node* node_ = nullptr;
};

/// An element (key empty) or a member. A key that was an object is its JSON text, as is one that was a number.
struct Value::Item {
    std::string_view key;
    Value value;
};

/// Walks in the order of the text; duplicates of a member come one after the other.
class Value::Iterator {
public:
    explicit Iterator(const Node* node) noexcept : node_(node) {}
    Item operator*() const noexcept { return {node_->key, Value(node_)}; }
    Iterator& operator++() noexcept {
        node_ += node_->span;
        return *this;
    }
    friend bool operator==(const Iterator&, const Iterator&) noexcept = default;

private:
    const Node* node_;
};

/// A parsed text. Views into the text, which must outlive the document; strings with escapes are kept inside. Moving
/// keeps Values valid. Accepted beyond RFC 8259 unless strict: keys that are bare numbers, bare words or whole
/// objects, single quotes, a comma before the closing bracket, control characters in strings, and {"$ref":"$.a[0]"}
/// for a value that came before (one that does not lead to such a value is null; together they may stand for no
/// more than nodesMax values, and not lead to each other). Duplicate members are kept; the last one counts.
class Document {
public:
    /// Corrupt with the place of the fault; OutOfRange when a limit is exceeded.
    static Result<Document> parse(std::string_view text, const ReadOptions& options = {});

    Document(Document&&) noexcept = default;
    Document& operator=(Document&&) noexcept = default;
    Document(const Document&) = delete;
    Document& operator=(const Document&) = delete;

    [[nodiscard]] Value root() const noexcept { return Value(nodes_.data()); }

private:
    friend class Parser;
    Document() = default;

    std::vector<Node> nodes_;
    std::deque<std::string> unescaped_;
};

}  // namespace patchbay::json
