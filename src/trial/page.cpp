// See page.h. The charts are SVG in the page; every figure in them also stands in a table or beside its mark as text.
#include "trial/page.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "trial/parts.h"  // made by embed.py
#include "trial/text.h"

namespace hearth::trial {
namespace {

std::string escaped(const std::string& text) {
  std::string out;
  for (const char letter : text) {
    switch (letter) {
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '&': out += "&amp;"; break;
      case '"': out += "&quot;"; break;
      default: out += letter;
    }
  }
  return out;
}

std::string bytes_words(std::uint64_t bytes) {
  if (bytes >= std::uint64_t{1} << 30) return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / (1 << 30));
  return fmt::format("{:.3g} MiB", static_cast<double>(bytes) / (1 << 20));
}

struct Words {
  const char *title, *what;
};
Words words_of(const std::string& set) {
  if (set == "overheads")
    return {"Overheads", "What a construct costs with an empty body, in the style of the EPCC suite."};
  if (set == "tasks")
    return {"Task benchmarks",
            "Whole programs of tasks. “all” has no cut-off: a task for everything that could be one."};
  if (set == "las")
    return {
        "The paper’s six, by distribution of their data",
        "Programs whose tasks name their data. gcc’s build runs on libgomp, clang’s, which also tells lengths, on the others; Hearth runs both, "
        "with three policies and three distributions. The rivals have the kernel’s placement: standard."};
  return {"Nested teams", "Teams inside a team, each with its own memory."};
}

// A part that is wide: it scrolls by itself, and by keyboard.
std::string region(const std::string& label, const std::string& table) {
  return fmt::format("<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"{}\">\n{}</div>\n",
                     escaped(label), table);
}

// ---- charts

constexpr double kLeft = 300, kWidth = 440, kAll = 960, kStep = 19, kTop = 22;

constexpr double kLeast = 0.125, kMost = 8;

double x_of(double ratio) {
  const double share = (std::log2(std::clamp(ratio, kLeast, kMost)) + 3) / 6;
  return kLeft + share * kWidth;
}

std::string mark(const Spread& spread, double y) {
  const Claim claim = claim_of(spread);
  const char* kind = claim == Claim::less ? "less" : claim == Claim::more ? "more" : "open";
  const double middle = x_of(spread.median);
  std::string out = fmt::format(
      "<line class=\"{}\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{}\" y2=\"{}\" stroke-width=\"2\"/>", kind, x_of(spread.low),
      x_of(spread.high), y, y);
  if (spread.median < kLeast || spread.median > kMost) {  // an arrow: it is out there
    const double tip = spread.median < kLeast ? -7 : 7;
    return out += fmt::format("<polygon class=\"{}\" points=\"{:.1f},{} {:.1f},{} {:.1f},{}\"/>", kind, middle + tip, y,
                              middle, y - 5, middle, y + 5);
  }
  return out += fmt::format("<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{}\" r=\"4\" stroke-width=\"2\"/>", kind, middle,
                            y);
}

std::string chart(const std::vector<Ratio>& ratios, const std::string& label) {
  const double height = kTop + kStep * static_cast<double>(ratios.size()) + 8;
  std::string out = fmt::format("<svg class=\"chart\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">", kAll,
                                height, escaped(label));
  for (const double tick : {0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0}) {
    out += fmt::format("<line class=\"{}\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{}\" y2=\"{}\"/>",
                       tick == 1 ? "one" : "grid", x_of(tick), x_of(tick), kTop - 5, height);
    out += fmt::format("<text class=\"axis\" x=\"{:.1f}\" y=\"12\" text-anchor=\"middle\">{:g}</text>", x_of(tick),
                       tick);
  }
  double y = kTop + 8;
  for (const Ratio& ratio : ratios) {
    std::string name = ratio.name;
    if (ratio.data != "none")
      name += fmt::format(" · {} · {} · {}", ratio.compiler,
                          ratio.ours.substr(std::min<std::size_t>(7, ratio.ours.size())), ratio.data);
    out += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>", kLeft - 10, y + 4, escaped(name));
    out += mark(ratio.spread, y);
    out += fmt::format("<text x=\"{}\" y=\"{}\">{}</text>", kLeft + kWidth + 14, y + 4, ratio_text(ratio.spread));
    y += kStep;
  }
  return out + "</svg>\n";
}

std::string charts(const Result& result, const std::string& set) {
  std::string out;
  const std::vector<Ratio> all = ratios_of(result);
  for (const RuntimeFacts& rival : result.runtimes) {
    std::vector<Ratio> these;
    std::copy_if(all.begin(), all.end(), std::back_inserter(these),
                 [&](const Ratio& one) { return one.set == set && one.theirs == rival.name; });
    if (these.empty()) continue;
    const std::string title = fmt::format("Hearth’s time by that of {}", rival.name);
    const std::string label = fmt::format("{}, {}: {} rows", title, set, these.size());
    const std::string drawing = region(label, chart(these, label + "; the figures stand beside the marks"));
    if (set == "las")
      out += fmt::format("<details><summary>{}: {} rows</summary>\n{}</details>\n", escaped(title), these.size(),
                         drawing);
    else
      out += fmt::format("<h3>{}</h3>\n{}", escaped(title), drawing);
  }
  return out;
}

// ---- tables

std::string cell(const Row* row) {
  if (row == nullptr) return "<td class=\"soft\">–</td>";
  if (row->state == State::measured) return fmt::format("<td>{}</td>", spread_text(spread_of(row->ns)));
  return fmt::format("<td class=\"bad\">{}{}</td>", state_word(row->state),
                     row->why.empty() ? "" : ": " + escaped(row->why));
}

std::string table_of(const Table& table) {
  std::string out =
      "<table><caption>Median over rounds ± half of its interval</caption><thead><tr><th scope=\"col\">Row</th><th scope=\"col\">Built by</th>";
  for (const Column& column : table.columns)
    out += fmt::format("<th scope=\"col\">{}{}</th>", escaped(column.runtime),
                       column.data == "none" ? "" : "<br>" + escaped(column.data));
  out += "</tr></thead><tbody>\n";
  for (const Table::Line& line : table.lines) {
    out += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td>", escaped(line.name), escaped(line.compiler));
    for (const Row* row : line.cells) out += cell(row);
    out += "</tr>\n";
  }
  return out + "</tbody></table>\n";
}

std::string tally_table(const Result& result, const std::string& set) {
  std::string out =
      "<table><caption>Rows in which the interval of the ratio does not contain 1</caption><thead><tr><th scope=\"col\">Hearth</th>"
      "<th scope=\"col\">Beside</th><th scope=\"col\">Faster</th><th scope=\"col\">Slower</th><th scope=\"col\">No difference shown</th>"
      "</tr></thead><tbody>\n";
  bool any = false;
  for (const Tally& one : tallies_of(result)) {
    if (one.set != set) continue;
    any = true;
    out += fmt::format(
        "<tr><th scope=\"row\">{}{}</th><td>{}</td><td class=\"{}\">{}</td><td class=\"{}\">{}</td><td>{}</td></tr>\n",
        escaped(one.ours), one.data == "none" ? "" : ", " + escaped(one.data), escaped(one.theirs),
        one.faster > 0 ? "less" : "soft", one.faster, one.slower > 0 ? "more" : "soft", one.slower, one.open);
  }
  return any ? region("Hearth beside each rival: " + set, out + "</tbody></table>\n") : "";
}

std::string matrix_table(const std::string& title, const Rows& rows) {
  if (rows.empty()) return {};
  std::string out = fmt::format("<table><caption>{}</caption><thead><tr><th scope=\"col\">From</th>", escaped(title));
  for (std::size_t i = 0; i < rows[0].size(); ++i) out += fmt::format("<th scope=\"col\">to node {}</th>", i);
  out += "</tr></thead><tbody>\n";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    out += fmt::format("<tr><th scope=\"row\">node {}</th>", i);
    for (const double one : rows[i]) out += one > 0 ? fmt::format("<td>{:.0f}</td>", one) : "<td class=\"soft\">–</td>";
    out += "</tr>\n";
  }
  return region(title, out + "</tbody></table>\n");
}

// ---- parts

std::string fact(const char* name, const std::string& text) {
  return fmt::format("<dt>{}</dt><dd>{}</dd>\n", name, escaped(text));
}

std::string list(const std::vector<std::string>& texts) {
  std::string out = "<ul>\n";
  for (const std::string& text : texts) out += fmt::format("<li>{}</li>\n", escaped(text));
  return out + "</ul>\n";
}

std::string machine_part(const Result& result) {
  const MachineFacts& machine = result.machine;
  std::string out = "<section id=\"machine\"><h2>The machine</h2>\n<dl>\n";
  out += fact("Processor", machine.processor);
  out += fact("May be used", fmt::format("{} CPUs of {} cores in {} package{}", machine.cpus, machine.cores,
                                         machine.packages, machine.packages == 1 ? "" : "s"));
  std::string caches;
  for (std::size_t i = 0; i < machine.cache_bytes.size() && i < 16; ++i)
    caches += (i > 0 ? ", " : "") + bytes_words(machine.cache_bytes[i]);
  if (machine.cache_bytes.size() > 16) caches += ", …";
  out += fact("Last-level caches", fmt::format("{}: {}", machine.cache_bytes.size(), caches));
  out += fact("NUMA nodes",
              fmt::format("{}, with {} together", machine.nodes.size(), bytes_words(machine.memory_bytes)));
  const Conditions& now = result.conditions;
  out += fact("Kernel", fmt::format("governor {}, AutoNUMA {}, huge pages {}, mbind {}{}", now.governor,
                                    now.numa_balancing, now.transparent_huge_pages, now.mbind ? "allowed" : "refused",
                                    now.cpu_quota > 0 ? fmt::format(", quota of {:g} CPUs", now.cpu_quota) : ""));
  if (machine.measured) {
    const MeasuredFacts& measured = *machine.measured;
    std::string memory;
    for (const double one : measured.memory_gbs) memory += fmt::format("{}{:.1f}", memory.empty() ? "" : ", ", one);
    out += fact("Memory, measured",
                fmt::format("{} GB a second from each node; cache {:.0f} ns", memory, measured.cache_ns));
  }
  out += "</dl>\n";
  if (machine.nodes.size() > 1) out += matrix_table("Distance, 10 is local", machine.distance);
  if (machine.measured) {
    out += matrix_table("Latency of reading, ns", machine.measured->read_ns);
    out += matrix_table("Bandwidth of reading, MB a second", machine.measured->read_mbs);
    if (!machine.measured->remarks.empty()) out += list(machine.measured->remarks);
  }
  return out + "</section>\n";
}

std::string runtimes_part(const Result& result) {
  std::string out = "<section id=\"runtimes\"><h2>The runtimes</h2>\n";
  std::string table =
      "<table><caption>Build ids tell versions apart</caption><thead><tr><th scope=\"col\">Name</th><th scope=\"col\">Kind</th>"
      "<th scope=\"col\">Build id begins</th></tr></thead><tbody>\n";
  for (const RuntimeFacts& one : result.runtimes)
    table += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td></tr>\n", escaped(one.name),
                         escaped(one.kind), escaped(one.build));
  return out + region("Runtimes", table + "</tbody></table>\n") + "</section>\n";
}

std::string verdict_part(const Result& result) {
  const Conditions& now = result.conditions;
  std::string out = fmt::format("<div class=\"verdict{}\"><p><strong>{}</strong> ", now.quiet ? "" : " loud",
                                now.quiet ? "The machine was quiet." : "The machine was not quiet:");
  for (std::size_t i = 0; i < now.reasons.size(); ++i) out += (i > 0 ? "; " : "") + escaped(now.reasons[i]);
  if (!now.quiet) out += ". Small differences mean little here.";
  return out + "</p></div>\n";
}

std::string ended_words(const Result& result) {
  if (result.ended == "interrupted") return "interrupted; what was done until then is here";
  return result.ended == "time" ? "its time was over before all programs had run" : "complete";
}

}  // namespace

std::string page_of(const Result& result) {
  const std::string title = fmt::format("{}, {} CPUs, {} NUMA node{}", escaped(result.machine.processor),
                                        result.machine.cpus, result.machine.nodes.size(),
                                        result.machine.nodes.size() == 1 ? "" : "s");
  std::string page = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"generator\" content=\"hearth bench\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src '{}'; img-src data:; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<meta name=\"referrer\" content=\"no-referrer\">\n<link rel=\"icon\" href=\"data:,\">\n<title>{} – hearth bench</title>\n<style>",
      kStyleHash, title);
  page += kStyle;
  page += fmt::format("</style>\n</head>\n<body>\n<header>\n<p class=\"brand\">hearth bench</p>\n<h1>{}</h1>\n", title);
  page += fmt::format("<p class=\"facts\">Hearth {}, {} threads, {} rounds in {:.1f} minutes, {}.</p>\n</header>\n",
                      escaped(result.hearth_version), result.threads, result.rounds, result.seconds / 60,
                      ended_words(result));
  const std::vector<Table> tables = tables_of(result);
  page += "<nav aria-label=\"Parts of this page\"><a href=\"#machine\">Machine</a><a href=\"#runtimes\">Runtimes</a>";
  for (const Table& table : tables) page += fmt::format("<a href=\"#{}\">{}</a>", table.set, words_of(table.set).title);
  page += "</nav>\n<main>\n" + verdict_part(result);
  page +=
      "<p class=\"hint\">Times of one row were taken in turn, in random order, inside each round; ratios are formed inside a round. A mark is the "
      "median of the ratio, its line the interval (95 %). Left of 1 Hearth took less time; an arrow stands for what is beyond the edge. Only a filled mark is a difference: its line does not touch 1, and "
      "there are at least five rounds.</p>\n";
  page += machine_part(result) + runtimes_part(result);
  for (const Table& table : tables) {
    page += fmt::format("<section id=\"{}\"><h2>{}</h2>\n<p class=\"hint\">{}</p>\n", table.set,
                        words_of(table.set).title, words_of(table.set).what);
    page += tally_table(result, table.set) + charts(result, table.set);
    page += region("Times: " + table.set, table_of(table)) + "</section>\n";
  }
  if (!result.left_out.empty())
    page += "<section id=\"left-out\"><h2>Left out or reduced</h2>\n" + list(result.left_out) + "</section>\n";
  page += "</main>\n<footer><p class=\"hint\">" + escaped(contents_text(result)) + "</p></footer>\n</body>\n</html>\n";
  return page;
}

}  // namespace hearth::trial
