// `hearth model check` and `hearth model list`: the machine models, by the very readers that the runtime and
// the simulator use.
#pragma once

#include <string>
#include <vector>

namespace hearth::cli {

/// The exit status: the worst of all files'. Files (.toml), or names of installed models.
int check_models(const std::vector<std::string>& files);
int list_models(bool json);

}  // namespace hearth::cli
