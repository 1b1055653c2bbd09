#include "patchbay/protocol/route/SubscriptionData.h"

#include "Fields.h"
#include "Writing.h"

#include "patchbay/protocol/util/Hash.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>

namespace patchbay::protocol {
namespace {

constexpr std::string_view kTagSeparator = "||";

/// What String.trim() takes away: everything up to the blank, at both ends.
std::string_view trim(std::string_view text) noexcept {
    const auto isSpace = [](char c) { return static_cast<unsigned char>(c) <= 0x20; };
    while (!text.empty() && isSpace(text.front()))
        text.remove_prefix(1);
    while (!text.empty() && isSpace(text.back()))
        text.remove_suffix(1);
    return text;
}

/// Appends what a list does not have yet. Few are compared one by one, without memory of their own; an expression of ten thousand
/// tags must not take their square.
template <typename Key>
class Distinct {
public:
    template <typename Item>
    bool add(Key key, std::vector<Item>& list) {
        const auto few = std::min(list.size(), few_.size());
        const auto end = few_.begin() + static_cast<std::ptrdiff_t>(few);
        if (std::find(few_.begin(), end, key) != end) return false;
        if (few < few_.size()) few_[few] = key;
        else if (!more_.insert(key).second) return false;
        list.emplace_back(key);
        return true;
    }

private:
    std::array<Key, 16> few_{};
    std::set<Key> more_;
};

}  // namespace

Result<SubscriptionData> SubscriptionData::build(std::string_view topic, std::string_view expression,
                                                 std::string_view expressionType) {
    SubscriptionData data;
    data.topic = topic;
    data.subString = expression;
    if (!isTagExpression(expressionType)) {
        if (expression.empty()) return Status(StatusCode::InvalidArgument, "the expression is empty");
        data.expressionType = expressionType;
        return data;
    }
    if (expression.empty() || expression == kSubscribeAll) {
        data.subString = kSubscribeAll;
        return data;
    }
    bool onlySeparators = true;
    Distinct<std::string_view> tags;  // of `expression`
    Distinct<std::int32_t> codes;
    for (std::string_view rest = expression; !rest.empty();) {
        const std::size_t end = std::min(rest.find(kTagSeparator), rest.size());
        const std::string_view part = rest.substr(0, end);
        rest.remove_prefix(std::min(end + kTagSeparator.size(), rest.size()));
        onlySeparators = onlySeparators && part.empty();
        const std::string_view tag = trim(part);
        if (tag.empty() || !tags.add(tag, data.tagsSet)) continue;
        codes.add(javaHashCode(tag), data.codeSet);
    }
    if (onlySeparators) return Status(StatusCode::InvalidArgument, "the expression names no tag");
    return data;
}

bool SubscriptionData::matchesTagsCode(std::int64_t tagsCode) const noexcept {
    if (classFilterMode || subscribesAll()) return true;
    return std::find(codeSet.begin(), codeSet.end(), static_cast<std::int32_t>(tagsCode)) != codeSet.end();
}

void SubscriptionData::write(json::Writer& out) const {
    out.beginObject();
    out.member("classFilterMode", classFilterMode);
    writeMember(out, "codeSet", codeSet);
    out.member("expressionType", expressionType);
    out.member("subString", subString);
    out.member("subVersion", subVersion);
    writeMember(out, "tagsSet", tagsSet);
    out.member("topic", topic);
    out.endObject();
}

Result<SubscriptionData> SubscriptionData::read(json::Value value) {
    SubscriptionData data;
    Fields fields(value, "subscription");
    fields.read("classFilterMode", data.classFilterMode)
        .read("codeSet", data.codeSet)
        .read("expressionType", data.expressionType)
        .read("subString", data.subString)
        .read("subVersion", data.subVersion)
        .read("tagsSet", data.tagsSet)
        .read("topic", data.topic);
    return std::move(fields).finish(std::move(data));
}

Result<CheckClientBody> CheckClientBody::read(json::Value value) {
    CheckClientBody body;
    Fields fields(value, "client check");
    fields.read("clientId", body.clientId)
        .read("group", body.group)
        .read("namespace", body.nameSpace)
        .read("subscriptionData", body.subscriptionData);
    return std::move(fields).finish(std::move(body));
}

}  // namespace patchbay::protocol
