// See doctor.h. What is said is worked out in doctor_findings.cpp.
#include "cli/doctor.h"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/json.h"
#include "cli/output.h"
#include "cli/recorded_machine.h"
#include "cli/spelling.h"
#include "topology/current.h"

namespace hearth::cli {
namespace {

using Weight = Finding::Weight;

struct Subject {
  const char* name;
  Findings findings;
};

const char* word(Weight weight) {
  switch (weight) {
    case Weight::fine: return "ok";
    case Weight::note: return "note";
    case Weight::loses: return "loses";
    case Weight::stops: return "stops";
  }
  return "";
}

// Words on lines of at most `width` letters; all lines but the first begin with `indent` blanks.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t width) {
  std::string out;
  std::size_t column = indent;
  while (!text.empty()) {
    const std::size_t stop = text.find(' ');
    const std::string_view next = text.substr(0, stop);
    if (column > indent && column + 1 + next.size() > width) {
      out += '\n' + std::string(indent, ' ');
      column = indent;
    }
    if (column > indent) out += ' ';
    out += next;
    column += next.size() + (column > indent ? 1 : 0);
    text = stop == std::string_view::npos ? std::string_view() : text.substr(stop + 1);
  }
  return out;
}

std::size_t count(const std::vector<Subject>& subjects, Weight weight) {
  std::size_t found = 0;
  for (const Subject& subject : subjects)
    for (const Finding& finding : subject.findings) found += finding.weight == weight;
  return found;
}

std::string verdict(const std::vector<Subject>& subjects, bool has_program) {
  const std::size_t stops = count(subjects, Weight::stops), loses = count(subjects, Weight::loses);
  const char* const who = has_program ? "the program" : "programs";
  if (stops != 0) return fmt::format("Hearth cannot serve {} ({}).", who, counted(stops, "reason"));
  if (loses != 0)
    return fmt::format("Hearth can serve {}; {} what it loses.", who, counted(loses, "finding says", "findings say"));
  return fmt::format("Hearth can serve {}; nothing was found that stands in its way.", who);
}

void print_text(const std::vector<Subject>& subjects, const std::string& end) {
  constexpr std::size_t kIndent = 20, kWidth = 100;
  for (const Subject& subject : subjects) {
    const char* name = subject.name;
    for (const Finding& finding : subject.findings) {
      put(stdout, "{:<13}{:<7}{}\n", name, word(finding.weight), wrapped(finding.what, kIndent, kWidth));
      if (!finding.remedy.empty())
        put(stdout, "{:{}}To do: {}\n", "", kIndent, wrapped(finding.remedy, kIndent + 7, kWidth));
      name = "";
    }
  }
  put(stdout, "\n{}\n", end);
}

void print_json(const std::vector<Subject>& subjects, const std::string& end) {
  Json out;
  Json all = Json::array();
  for (const Subject& subject : subjects) {
    for (const Finding& finding : subject.findings) {
      Json one;
      one["subject"] = subject.name;
      one["weight"] = word(finding.weight);
      one["what"] = finding.what;
      one["remedy"] = finding.remedy;
      all.push_back(one);
    }
  }
  out["findings"] = all;
  out["verdict"] = end;
  put(stdout, "{}\n", out.dump(2));
}

}  // namespace

int doctor_main(const DoctorRequest& request) try {
  OptionReader given;
  given.read(environ, process_is_privileged());
  const auto storage = std::make_unique<char[]>(rt::kSettingsStorage);
  const rt::Settings settings = rt::parse_settings(given, storage.get(), rt::kSettingsStorage);

  std::optional<RecordedMachine> recorded;
  if (!request.replay.empty()) recorded.emplace(request.replay);
  if (!recorded && !settings.machine.empty()) topology::pretend(settings.machine);
  const topology::SystemRoot root = recorded ? recorded->root() : topology::SystemRoot();
  topology::Machine machine = recorded ? recorded->machine() : topology::machine();
  if (settings.llc_locations) machine.use_locations(topology::LocationKind::llc);

  std::vector<Subject> subjects;
  if (!request.program.empty()) subjects.push_back({"program", judge_program(inspect_program(request.program))});
  subjects.push_back({"machine", judge_machine(machine, root)});
  subjects.push_back({"container", judge_container(machine, root)});
  if (!recorded) {
    Findings calls = judge_calls(machine);
    std::move(calls.begin(), calls.end(), std::back_inserter(subjects.back().findings));
  }
  subjects.push_back({"environment", judge_environment(given, settings, machine)});
  const std::string end = verdict(subjects, !request.program.empty());
  if (request.json)
    print_json(subjects, end);
  else
    print_text(subjects, end);
  hint_at_variables();
  return count(subjects, Weight::stops) != 0 ? kExitDiffers : 0;
} catch (const std::exception& error) {
  say("{}", error.what());
  return kExitUsage;
}

}  // namespace hearth::cli
