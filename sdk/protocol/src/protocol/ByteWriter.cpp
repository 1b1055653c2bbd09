#include "patchbay/protocol/util/ByteWriter.h"

#include <algorithm>

namespace patchbay::protocol {

void ByteWriter::enlarge(std::size_t more) {
    const std::size_t capacity = std::max({size_ + more, capacity_ * 2, std::size_t{256}});
    // Not value-initialised: whoever commits bytes has written them.
    std::unique_ptr<char[]> data(new char[capacity]);
    if (size_ > 0) std::memcpy(data.get(), data_.get(), size_);
    data_ = std::move(data);
    capacity_ = capacity;
}

}  // namespace patchbay::protocol
