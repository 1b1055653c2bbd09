// pluginTemplate: the files of a plugin that builds, is tested and answers as it stands.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::patchctl {

struct TemplateFile {
    std::string name;
    std::string content;
};

/// `name` is valid as a plugin's name: a-z, 0-9 and "-".
[[nodiscard]] std::vector<TemplateFile> pluginTemplate(std::string_view name, std::int32_t code);

}  // namespace patchbay::patchctl
