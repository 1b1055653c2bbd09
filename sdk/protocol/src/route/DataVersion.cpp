#include "patchbay/protocol/route/DataVersion.h"

#include "Fields.h"

namespace patchbay::protocol {

void DataVersion::write(json::Writer& out) const {
    out.beginObject();
    out.member("counter", counter);
    out.member("stateVersion", stateVersion);
    out.member("timestamp", timestamp);
    out.endObject();
}

Result<DataVersion> DataVersion::read(json::Value value) {
    DataVersion version;
    Fields fields(value, "data version");
    fields.read("counter", version.counter)
        .read("stateVersion", version.stateVersion)
        .read("timestamp", version.timestamp);
    return std::move(fields).finish(std::move(version));
}

}  // namespace patchbay::protocol
