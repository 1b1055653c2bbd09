#include "patchbay/base/Slice.h"

namespace patchbay {

namespace {

// The text sits in the counted object itself, so that the view stays valid when the Slice moves.
class OwnedText : public RefCounted {
public:
    explicit OwnedText(std::string text) : text_(std::move(text)) {}
    [[nodiscard]] std::string_view bytes() const noexcept { return text_; }

private:
    const std::string text_;
};

}  // namespace

Slice Slice::copyOf(std::string_view bytes) {
    return own(std::string(bytes));
}

Slice Slice::own(std::string text) {
    Ref<OwnedText> owner = Ref<OwnedText>::adopt(new OwnedText(std::move(text)));
    const std::string_view view = owner->bytes();
    return Slice{view, KeepAlive(std::move(owner))};
}

}  // namespace patchbay
