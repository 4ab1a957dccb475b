// Graphs in Graphviz's DOT language. Nodes are threads, in the order in which they are first named; `load` (a number)
// and `class` of a node, and `weight` of an edge are looked at; all other attributes are not. Arrows count like lines.
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/parse.h"
#include "mappers/graph_file.h"
#include "mappers/graph_text.h"

namespace hearth::mappers {
namespace {

struct Token {
  enum class Kind : std::uint8_t { end, word, mark, arrow, bad };
  Kind kind = Kind::end;
  std::string text;  // of a word; what is wrong
  char mark = 0;     // one of {}[];,=:
  std::size_t line = 1;
};

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  Token next() {
    if (Token problem; !skip(problem)) return problem;
    Token token;
    token.line = line_;
    if (at_ >= text_.size()) return token;
    const char c = text_[at_];
    if (c == '"') return string(token);
    if (c == '<') return bad(token, "a label in HTML is not read; legal: \"...\"");
    if (c == '-' && at_ + 1 < text_.size() && (text_[at_ + 1] == '-' || text_[at_ + 1] == '>')) {
      at_ += 2;
      token.kind = Token::Kind::arrow;
      return token;
    }
    if (std::string_view("{}[];,=:").find(c) != std::string_view::npos) {
      ++at_;
      token.kind = Token::Kind::mark;
      token.mark = c;
      return token;
    }
    const std::size_t begin = at_;
    while (at_ < text_.size() && in_word(text_[at_])) ++at_;
    if (at_ == begin) return bad(token, fmt::format("{} is not legal here", quoted(text_.substr(at_, 1))));
    token.kind = Token::Kind::word;
    token.text = text_.substr(begin, at_ - begin);
    return token;
  }

 private:
  /// Letters, digits, '_', '.', a sign in front of a number, and whatever is not ASCII.
  bool in_word(char c) const {
    const bool alone = c != '-' || at_ + 1 >= text_.size() || (text_[at_ + 1] != '-' && text_[at_ + 1] != '>');
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           c == '+' || (c == '-' && alone) || static_cast<unsigned char>(c) >= 128;
  }

  /// Blank space, and comments as in C and as of a preprocessor. False: a comment has no end.
  bool skip(Token& problem) {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') {
        ++line_;
        ++at_;
      } else if (c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f') {
        ++at_;
      } else if (c == '#' || text_.substr(at_, 2) == "//") {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (text_.substr(at_, 2) == "/*") {
        const std::size_t end = text_.find("*/", at_ + 2);
        if (end == std::string_view::npos) {
          problem.line = line_;
          problem = bad(problem, "a comment begins here and has no end");
          return false;
        }
        for (; at_ < end + 2; ++at_) line_ += text_[at_] == '\n' ? 1 : 0;
      } else {
        return true;
      }
    }
    return true;
  }

  Token string(Token token) {
    token.kind = Token::Kind::word;
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] == '"') ++at_;
      line_ += text_[at_] == '\n' ? 1 : 0;
      token.text += text_[at_];
    }
    if (at_ >= text_.size()) return bad(token, "a string begins here and has no end");
    ++at_;
    return token;
  }

  Token bad(Token token, std::string why) {
    token.kind = Token::Kind::bad;
    token.text = std::move(why);
    at_ = text_.size();
    return token;
  }

  std::string_view text_;
  std::size_t at_ = 0, line_ = 1;
};

class Dot {
 public:
  Dot(std::string_view text, const std::string& file) : scanner_(text), file_(file) { take(); }

  LoadedGraph read() {
    std::string problem = whole();
    if (!problem.empty())
      return LoadedGraph::failure(
          fmt::format("{}:{}: {}", file_, line_, token_.kind == Token::Kind::bad ? token_.text : problem));
    LoadedGraph loaded;
    loaded.graph = builder_.take();
    return loaded;
  }

 private:
  using Kind = Token::Kind;
  static constexpr int kDeepest = 100;

  void take() {
    token_ = scanner_.next();
    line_ = token_.line;
  }
  bool is(char mark) const { return token_.kind == Kind::mark && token_.mark == mark; }
  bool is(const char* word) const { return token_.kind == Kind::word && same_word(token_.text, word); }
  std::string found() const {
    switch (token_.kind) {
      case Kind::end: return "the file ends";
      case Kind::word: return quoted(token_.text);
      case Kind::arrow: return "a line or arrow";
      default: return fmt::format("\"{}\"", token_.mark);
    }
  }
  std::string expected(const char* what) const { return fmt::format("{}; legal: {}", found(), what); }

  std::string whole() {
    if (is("strict")) take();
    if (!is("graph") && !is("digraph")) return "is no DOT file: " + expected("graph or digraph");
    take();
    if (token_.kind == Kind::word) take();
    if (!is('{')) return expected("{");
    take();
    if (std::string problem = statements(0); !problem.empty()) return problem;
    if (token_.kind != Kind::end) return expected("nothing behind the graph's }");
    if (builder_.graph().size() == 0) return "the graph has no nodes; legal: one for each thread";
    return {};
  }

  /// Up to and with the closing brace.
  std::string statements(int depth) {
    if (depth > kDeepest) return fmt::format("subgraphs in subgraphs; legal: up to {} deep", kDeepest);
    while (!is('}')) {
      if (is(';')) {
        take();
        continue;
      }
      if (std::string problem = statement(depth); !problem.empty()) return problem;
    }
    take();
    return {};
  }

  std::string statement(int depth) {
    if (is("subgraph") || is('{')) {
      if (!is('{')) take();
      if (token_.kind == Kind::word) take();
      if (!is('{')) return expected("{");
      take();
      if (std::string problem = statements(depth + 1); !problem.empty()) return problem;
      return token_.kind == Kind::arrow ? "edges of whole subgraphs are not read; legal: of single nodes" : "";
    }
    if (token_.kind != Kind::word) return expected("a node, an edge, or }");
    const bool defaults = is("graph") || is("node") || is("edge");
    const bool of_edges = is("edge");
    const std::string first = token_.text;
    take();
    if (is('=')) {  // an attribute of the graph
      take();
      if (token_.kind != Kind::word) return expected("a value");
      take();
      return {};
    }
    if (defaults) {
      Attributes given = edge_defaults_;
      if (std::string problem = attributes(given); !problem.empty()) return problem;
      if (of_edges) edge_defaults_ = given;
      return {};
    }
    return node_or_edges(first);
  }

  struct Attributes {
    double load = -1, weight = 1;  // load: -1 where it is not told
    ThreadClass kind = ThreadClass::unknown;
  };

  std::string node_or_edges(const std::string& first) {
    std::vector<Thread> chain(1, kNobody);
    if (std::string problem = thread(first, chain[0]); !problem.empty()) return problem;
    while (token_.kind == Kind::arrow) {
      take();
      if (token_.kind != Kind::word || is("subgraph")) return expected("a node");
      const std::string name = token_.text;
      take();
      if (std::string problem = thread(name, chain.emplace_back()); !problem.empty()) return problem;
    }
    Attributes given = edge_defaults_;
    given.load = -1;
    if (std::string problem = attributes(given); !problem.empty()) return problem;
    for (std::size_t i = 0; i + 1 < chain.size(); ++i) builder_.add_edge(chain[i], chain[i + 1], given.weight);
    if (chain.size() > 1) return {};
    Graph& graph = builder_.graph();
    if (given.load >= 0) {
      graph.load[chain[0]] = given.load;
      graph.has_loads = true;
    }
    if (given.kind != ThreadClass::unknown) graph.kind[chain[0]] = given.kind;
    return {};
  }

  std::string thread(const std::string& name, Thread& out) {
    if (is(':')) {  // a port
      take();
      if (token_.kind != Kind::word) return expected("a port");
      take();
      if (is(':')) {
        take();
        if (token_.kind != Kind::word) return expected("a side of a node");
        take();
      }
    }
    const auto at = threads_.find(name);
    if (at != threads_.end()) {
      out = at->second;
      return {};
    }
    if (builder_.graph().size() == kMostThreads) return fmt::format("more than {} threads", kMostThreads);
    out = threads_[name] = builder_.add_thread(name);
    return {};
  }

  std::string attributes(Attributes& given) {
    while (is('[')) {
      take();
      while (!is(']')) {
        if (is(',') || is(';')) {
          take();
          continue;
        }
        if (token_.kind != Kind::word) return expected("an attribute or ]");
        const std::string name = token_.text;
        take();
        if (!is('=')) return expected("=");
        take();
        if (token_.kind != Kind::word) return expected("a value");
        if (std::string problem = attribute(name, token_.text, given); !problem.empty()) return problem;
        take();
      }
      take();
    }
    return {};
  }

  static std::string attribute(const std::string& name, const std::string& value, Attributes& given) {
    if (name == "load") return read_amount(value, "the load", given.load);
    if (name == "weight") return read_amount(value, "the weight", given.weight);
    if (name != "class") return {};
    for (std::size_t i = 0; i < std::size(kThreadClassNames); ++i) {
      if (!same_word(value, kThreadClassNames[i])) continue;
      given.kind = static_cast<ThreadClass>(i);
      return {};
    }
    return fmt::format("the class {} is unknown; legal: autonomous, side-by-side, postponed, unknown", quoted(value));
  }

  Scanner scanner_;
  const std::string& file_;
  Token token_;
  std::size_t line_ = 1;
  GraphBuilder builder_;
  std::unordered_map<std::string, Thread> threads_;
  Attributes edge_defaults_;
};

}  // namespace

LoadedGraph parse_dot(std::string_view text, const std::string& file) { return Dot(text, file).read(); }

}  // namespace hearth::mappers
