// The table of generators, and their settings as text. See generators.h.
#include "sim/workload/generators.h"

#include <cfloat>
#include <charconv>
#include <cmath>
#include <cstdio>

#include <utility>

namespace hearth::sim {
namespace {

constexpr const char* kInputNames[kInputs] = {"small", "paper", "manycore"};

std::string text_of(double value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  return {text, end};
}

std::string quoted(std::string_view text) { return '"' + std::string(text) + '"'; }

std::string list_of(std::span<const char* const> words) {
  std::string list;
  for (const char* word : words) list += (list.empty() ? "" : ", ") + std::string(word);
  return list;
}

std::string legal(const GeneratorParameter& parameter) {
  if (!parameter.words.empty()) return list_of(parameter.words);
  return (parameter.whole ? "whole numbers from " : "numbers from ") + text_of(parameter.least) + " to " +
         text_of(parameter.most);
}

bool parse_value(const GeneratorParameter& parameter, std::string_view text, double& value) {
  for (std::size_t i = 0; i < parameter.words.size(); ++i) {
    if (text == parameter.words[i]) {
      value = static_cast<double>(i);
      return true;
    }
  }
  if (!parameter.words.empty()) return false;
  double number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || end != text.data() + text.size()) return false;
  if (!(number >= parameter.least && number <= parameter.most)) return false;  // not for "nan" either
  if (parameter.whole && number != std::floor(number)) return false;
  value = number;
  return true;
}

/// Calls `visit(name, value)`; false at the first setting that has no '=', which `error` then names.
template <class Visit>
bool each_setting(const std::vector<std::string>& settings, std::string& error, Visit visit) {
  for (const std::string& setting : settings) {
    const std::size_t sign = setting.find('=');
    if (sign == std::string::npos) {
      error = quoted(setting) + ": a setting is name=value";
      return false;
    }
    const std::string_view text = setting;
    if (!visit(text.substr(0, sign), text.substr(sign + 1))) return false;
  }
  return true;
}

bool choose_inputs(const std::vector<std::string>& settings, std::size_t& inputs, std::string& error) {
  return each_setting(settings, error, [&](std::string_view name, std::string_view value) {
    if (name != "inputs") return true;
    for (inputs = 0; inputs < kInputs; ++inputs) {
      if (value == kInputNames[inputs]) return true;
    }
    error = "inputs=" + quoted(value) + ": legal: " + list_of(kInputNames);
    return false;
  });
}

bool read_settings(const Generator& generator, const std::vector<std::string>& settings,
                   std::vector<double>& values, std::string& error) {
  return each_setting(settings, error, [&](std::string_view name, std::string_view value) {
    if (name == "inputs") return true;
    std::string names = "inputs";
    for (std::size_t i = 0; i < generator.parameters.size(); ++i) {
      const GeneratorParameter& parameter = generator.parameters[i];
      names += ", " + std::string(parameter.name);
      if (name != parameter.name) continue;
      if (parse_value(parameter, value, values[i])) return true;
      error = std::string(name) + '=' + quoted(value) + ": legal: " + legal(parameter);
      return false;
    }
    error = quoted(name) + ": " + generator.name + " has no such setting; legal: " + names;
    return false;
  });
}

}  // namespace

double Settings::number(std::string_view name) const {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (name == parameters_[i].name) return values_[i];
  }
  return NAN;
}

std::uint64_t Settings::cycles(double operations) const {
  return static_cast<std::uint64_t>(operations / number("ops_per_cycle") + 0.5);
}

std::vector<Generator> generators() {
  std::vector<Generator> all;
  for (const auto some : {las_generators(), random_generators()})
    all.insert(all.end(), some.begin(), some.end());
  return all;
}

const Generator* find_generator(std::string_view name) {
  for (const auto some : {las_generators(), random_generators()}) {
    for (const Generator& generator : some) {
      if (name == generator.name) return &generator;
    }
  }
  return nullptr;
}

Generated generate(const Generator& generator, const std::vector<std::string>& settings) {
  Generated result;
  std::size_t inputs = 0;
  if (!choose_inputs(settings, inputs, result.error)) return result;
  std::vector<double> values;
  for (const GeneratorParameter& parameter : generator.parameters)
    values.push_back(parameter.defaults[inputs]);
  if (!read_settings(generator, settings, values, result.error)) return result;
  const Settings read(generator.parameters, values);
  const double accesses = generator.accesses(read, result.error);
  if (!result.ok()) return result;
  if (accesses > kMostGeneratedAccesses) {
    result.error = "its tasks would have " + text_of(accesses) + " accesses, and no more than " +
                   text_of(kMostGeneratedAccesses) + " are simulated: choose fewer or larger parts";
    return result;
  }
  Builder builder(generator.name);
  generator.make(read, builder);
  result.workload = builder.take();
  return result;
}

}  // namespace hearth::sim
