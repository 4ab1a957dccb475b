// The result for people and programs: text, JSON, DOT and SVG. Pure.
#pragma once

#include <string>

#include "btlp/analysis/model.h"

namespace hearth::btlp {

std::string as_text(const Program& program);
std::string as_json(const Program& program);
std::string as_dot(const Program& program);
std::string as_svg(const Program& program);
/// The form that the end of a file's name asks for: .txt, .dot, .svg, else JSON.
std::string as_file(const Program& program, const std::string& path);

}  // namespace hearth::btlp
