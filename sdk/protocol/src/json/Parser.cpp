#include "patchbay/protocol/json/Value.h"
#include "patchbay/protocol/util/Utf8.h"

#include <charconv>
#include <limits>

namespace patchbay::json {

/// Builds the nodes of a Document by recursive descent; its depth is limited by the options. Lives for one parse.
class Parser {
public:
    Parser(std::string_view text, const ReadOptions& options) : text_(text), options_(options) {}

    Result<Document> run();

private:
    bool value(std::string_view key, std::uint32_t depth);
    bool object(std::size_t index, std::uint32_t depth);
    bool array(std::size_t index, std::uint32_t depth);
    bool member(std::uint32_t depth);
    bool key(std::string_view& out, std::uint32_t depth);
    bool bareKey(std::string_view& out);
    bool string(char quote, std::string_view& out);
    bool unescape(char quote, std::size_t start, std::string_view& out);
    bool escape(std::string& out);
    bool hex(unsigned digits, char32_t& out);
    bool number(Node& node);
    bool word(Node& node);
    bool resolveReferences();
    const Node* lookUp(std::string_view path);
    bool spend(std::size_t nodes);

    bool fail(std::string_view what);
    bool exceed(std::string_view what);
    void skipSpace() noexcept;
    [[nodiscard]] bool atEnd() const noexcept { return at_ >= text_.size(); }
    [[nodiscard]] char peek() const noexcept { return atEnd() ? '\0' : text_[at_]; }
    bool accept(char c) noexcept {
        if (peek() != c || atEnd()) return false;
        ++at_;
        return true;
    }
    Node& node(std::size_t index) { return document_.nodes_[index]; }

    const std::string_view text_;
    const ReadOptions options_;
    std::size_t at_ = 0;
    Document document_;
    std::vector<std::size_t> references_;
    std::size_t budget_ = 0;
    bool overspent_ = false;
    Status error_;
};

namespace {

bool isDigit(char c) noexcept {
    return c >= '0' && c <= '9';
}
bool isWordChar(char c) noexcept {
    return isDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '-';
}

}  // namespace

Result<Document> Document::parse(std::string_view text, const ReadOptions& options) {
    return Parser(text, options).run();
}

Result<Document> Parser::run() {
    if (text_.size() > options_.bytesMax || text_.size() > std::numeric_limits<std::uint32_t>::max()) {
        exceed("the text is too long");
        return error_;
    }
    if (!value({}, 0)) return error_;
    skipSpace();
    if (!atEnd()) {
        fail("more text behind the value");
        return error_;
    }
    if (!resolveReferences()) return error_;
    return std::move(document_);
}

bool Parser::fail(std::string_view what) {
    if (error_.isOk()) {
        error_ = Status(StatusCode::Corrupt, "JSON, byte " + std::to_string(at_) + ": " + std::string(what));
    }
    return false;
}

bool Parser::exceed(std::string_view what) {
    if (error_.isOk()) {
        error_ = Status(StatusCode::OutOfRange, "JSON, byte " + std::to_string(at_) + ": " + std::string(what));
    }
    return false;
}

void Parser::skipSpace() noexcept {
    while (!atEnd() && (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r'))
        ++at_;
}

bool Parser::value(std::string_view key, std::uint32_t depth) {
    skipSpace();
    if (atEnd()) return fail("ends where a value should be");
    if (document_.nodes_.size() >= options_.nodesMax) return exceed("too many values");
    const std::size_t index = document_.nodes_.size();
    document_.nodes_.emplace_back().key = key;
    const char c = peek();
    if (c == '{' || c == '[') {
        if (depth >= options_.depthMax) return exceed("nested too deep");
        ++at_;
        const bool good = c == '{' ? object(index, depth + 1) : array(index, depth + 1);
        if (good) node(index).span = static_cast<std::uint32_t>(document_.nodes_.size() - index);
        return good;
    }
    if (c == '"' || (c == '\'' && !options_.strict)) {
        std::string_view text;
        ++at_;
        if (!string(c, text)) return false;
        Node& to = node(index);
        to.type = Type::String;
        to.as.text = text.data();
        to.length = static_cast<std::uint32_t>(text.size());
        return true;
    }
    return c == '-' || isDigit(c) ? number(node(index)) : word(node(index));
}

bool Parser::object(std::size_t index, std::uint32_t depth) {
    node(index).type = Type::Object;
    skipSpace();
    if (accept('}')) return true;
    for (;;) {
        if (!member(depth)) return false;
        ++node(index).count;
        skipSpace();
        if (accept('}')) break;
        if (!accept(',')) return fail("neither , nor } behind a member");
        skipSpace();
        if (!options_.strict && accept('}')) break;
    }
    if (!options_.strict && node(index).count == 1) {
        const Node& only = node(index + 1);
        if (only.key == "$ref" && only.type == Type::String) references_.push_back(index);
    }
    return true;
}

bool Parser::array(std::size_t index, std::uint32_t depth) {
    node(index).type = Type::Array;
    skipSpace();
    if (accept(']')) return true;
    for (;;) {
        if (!value({}, depth)) return false;
        ++node(index).count;
        skipSpace();
        if (accept(']')) return true;
        if (!accept(',')) return fail("neither , nor ] behind an element");
        skipSpace();
        if (!options_.strict && accept(']')) return true;
    }
}

bool Parser::member(std::uint32_t depth) {
    skipSpace();
    std::string_view name;
    if (!key(name, depth)) return false;
    skipSpace();
    if (!accept(':')) return fail("no : behind a key");
    return value(name, depth);
}

bool Parser::key(std::string_view& out, std::uint32_t depth) {
    const char c = peek();
    if (c == '"' || (c == '\'' && !options_.strict)) {
        ++at_;
        return string(c, out);
    }
    if (options_.strict) return fail("a key must be quoted");
    if (c != '{') return bareKey(out);
    // An object as key: checked like a value, then forgotten; its text is the key.
    const std::size_t start = at_;
    const std::size_t nodes = document_.nodes_.size();
    const std::size_t references = references_.size();
    if (!value({}, depth)) return false;
    document_.nodes_.resize(nodes);
    references_.resize(references);
    out = text_.substr(start, at_ - start);
    return true;
}

bool Parser::bareKey(std::string_view& out) {
    const std::size_t start = at_;
    while (!atEnd() && isWordChar(peek()))
        ++at_;
    out = text_.substr(start, at_ - start);
    return !out.empty() || fail("no key where one should be");
}

bool Parser::string(char quote, std::string_view& out) {
    const std::size_t start = at_;
    for (; !atEnd(); ++at_) {
        const char c = text_[at_];
        if (c == quote) {
            out = text_.substr(start, at_ - start);
            ++at_;
            return true;
        }
        if (c == '\\') return unescape(quote, start, out);
        if (options_.strict && static_cast<unsigned char>(c) < 0x20) return fail("a control character in a string");
    }
    return fail("a string without end");
}

bool Parser::unescape(char quote, std::size_t start, std::string_view& out) {
    std::string plain(text_.substr(start, at_ - start));
    while (!atEnd()) {
        const char c = text_[at_++];
        if (c == quote) {
            out = document_.unescaped_.emplace_back(std::move(plain));
            return true;
        }
        if (c == '\\') {
            if (!escape(plain)) return false;
            continue;
        }
        if (options_.strict && static_cast<unsigned char>(c) < 0x20) return fail("a control character in a string");
        plain.push_back(c);
    }
    return fail("a string without end");
}

bool Parser::escape(std::string& out) {
    if (atEnd()) return fail("a string without end");
    const char c = text_[at_++];
    switch (c) {
        case '"':
        case '\\':
        case '/':
            out.push_back(c);
            return true;
        case 'b':
            out.push_back('\b');
            return true;
        case 'f':
            out.push_back('\f');
            return true;
        case 'n':
            out.push_back('\n');
            return true;
        case 'r':
            out.push_back('\r');
            return true;
        case 't':
            out.push_back('\t');
            return true;
        case 'u':
            break;
        case '\'':
            if (!options_.strict) {
                out.push_back(c);
                return true;
            }
            [[fallthrough]];
        default:
            return fail("an unknown escape");
    }
    char32_t code = 0;
    if (!hex(4, code)) return false;
    if (code >= 0xD800 && code < 0xDC00 && text_.substr(at_, 2) == "\\u") {
        const std::size_t behindHigh = at_;
        char32_t low = 0;
        at_ += 2;
        if (!hex(4, low)) return false;
        if (low >= 0xDC00 && low < 0xE000) {
            code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
        } else {
            at_ = behindHigh;
        }
    }
    protocol::appendUtf8(out, code);
    return true;
}

bool Parser::hex(unsigned digits, char32_t& out) {
    const std::string_view text = text_.substr(at_, digits);
    std::uint32_t code = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), code, 16);
    if (text.size() != digits || error != std::errc() || end != text.data() + text.size()) return fail("a broken \\u");
    at_ += digits;
    out = code;
    return true;
}

bool Parser::number(Node& to) {
    const std::size_t start = at_;
    accept('-');
    const std::size_t firstDigit = at_;
    while (isDigit(peek()))
        ++at_;
    const std::size_t digits = at_ - firstDigit;
    if (digits == 0 || (options_.strict && digits > 1 && text_[firstDigit] == '0')) return fail("not a number");
    bool whole = true;
    if (accept('.')) {
        whole = false;
        if (options_.strict && !isDigit(peek())) return fail("not a number");
        while (isDigit(peek()))
            ++at_;
    }
    if (peek() == 'e' || peek() == 'E') {
        whole = false;
        ++at_;
        if (!accept('+')) accept('-');
        if (!isDigit(peek())) return fail("not a number");
        while (isDigit(peek()))
            ++at_;
    }
    const char* first = text_.data() + start;
    const char* last = text_.data() + at_;
    if (whole && std::from_chars(first, last, to.as.integer).ec == std::errc()) {
        to.type = Type::Integer;
        return true;
    }
    to.type = Type::Double;
    to.as.number = 0;
    if (std::from_chars(first, last, to.as.number).ec != std::errc()) return exceed("a number out of range");
    return true;
}

bool Parser::word(Node& to) {
    const std::string_view rest = text_.substr(at_);
    const auto take = [&](std::string_view expected) {
        if (!rest.starts_with(expected)) return false;
        at_ += expected.size();
        return true;
    };
    if (take("null")) return true;
    const bool isTrue = take("true");
    if (!isTrue && !take("false")) return fail("no value where one should be");
    to.type = Type::Bool;
    to.as.integer = isTrue ? 1 : 0;
    return true;
}

/// Points every {"$ref":…} at a value before it that holds no reference itself. So nothing can go in circles, and the
/// sum of what they stand for is what a reader may have to visit on top of the text itself. Every node looked at here
/// counts against the same limit, because a text can name one large value very often.
bool Parser::resolveReferences() {
    budget_ = options_.nodesMax;
    for (const std::size_t index : references_) {
        const Node* const self = document_.nodes_.data() + index;
        const Node* const target = lookUp({self[1].as.text, self[1].length});
        bool usable = target != nullptr && target < self && target + target->span <= self;
        if (usable && spend(target->span)) {
            for (const Node* at = target; at != target + target->span; ++at)
                usable = usable && at->type != Type::Ref;
        }
        if (overspent_) return exceed("references stand for too many values");
        node(index).type = Type::Ref;
        node(index).length = usable ? static_cast<std::uint32_t>(self - target) : 0;
    }
    return true;
}

bool Parser::spend(std::size_t nodes) {
    overspent_ = overspent_ || nodes > budget_;
    if (!overspent_) budget_ -= nodes;
    return !overspent_;
}

/// "$", "$.key", "$.key[3].other"; as everywhere the last of several members counts.
const Node* Parser::lookUp(std::string_view path) {
    if (!path.starts_with('$')) return nullptr;
    path.remove_prefix(1);
    const Node* at = document_.nodes_.data();
    while (!path.empty() && at != nullptr) {
        if (!spend(at->count)) return nullptr;
        const bool index = path.front() == '[';
        const std::size_t end = index ? path.find(']') : path.find_first_of(".[", 1);
        if ((index && end == std::string_view::npos) || (!index && path.front() != '.')) return nullptr;
        const std::string_view step = path.substr(1, end == std::string_view::npos ? end : end - 1);
        path = end == std::string_view::npos ? std::string_view() : path.substr(index ? end + 1 : end);
        const Node* child = at + 1;
        std::uint32_t wanted = 0;
        if (index && (at->type != Type::Array ||
                      std::from_chars(step.data(), step.data() + step.size(), wanted).ec != std::errc())) {
            return nullptr;
        }
        if (!index && at->type != Type::Object) return nullptr;
        const Node* found = nullptr;
        for (std::uint32_t i = 0; i < at->count; ++i, child += child->span) {
            if (index ? i == wanted : child->key == step) found = child;
        }
        at = found;
    }
    return at;
}

}  // namespace patchbay::json
