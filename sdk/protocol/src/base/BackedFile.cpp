#include "patchbay/base/BackedFile.h"

namespace patchbay {

namespace {

/// NotFound for a file that is missing or empty: a file system that lost power leaves either behind.
Status offer(FileSystem& files, const std::string& path, const AcceptContent& accept) {
    if (!files.exists(path)) return {StatusCode::NotFound, path + " does not exist"};
    Result<std::string> text = files.readAll(path, UINT64_MAX);
    if (!text) return text.error();
    if (text->empty()) return {StatusCode::NotFound, path + " is empty"};
    return accept(*text);
}

}  // namespace

Result<BackedContent> readBacked(FileSystem& files, const std::string& path, const AcceptContent& accept) {
    using Source = BackedContent::Source;
    const Status main = offer(files, path, accept);
    if (main) return BackedContent{Source::Main, {}};
    if (main.code() == StatusCode::OutOfRange) return Status(main.code(), path + " cannot be read: " + main.message());  // too large for us is not damaged

    const Status backup = offer(files, path + ".bak", accept);
    if (!backup && backup.code() != StatusCode::NotFound) {
        return Status(StatusCode::Corrupt, "neither " + path + " (" + main.message() + ") nor " + path + ".bak (" +
                                               backup.message() + ") can be used; repair or remove them");
    }
    const bool damaged = main.code() != StatusCode::NotFound;
    if (damaged) {
        if (Status aside = files.rename(path, path + ".damaged"); !aside) return aside;
    }
    const Source source = backup ? Source::Backup : Source::Nothing;
    if (!damaged && !backup && files.exists(path)) {
        return BackedContent{source, path + " is empty and there is no backup beside it: what was in it is gone; to have it back, stop the process and put a "
                                            "copy of it there"};
    }
    const bool remarkable = damaged || source == Source::Backup;
    return BackedContent{source, remarkable ? main.message() : std::string{}};
}

}  // namespace patchbay
