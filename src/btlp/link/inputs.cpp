#include "btlp/link/inputs.h"

#include <cerrno>
#include <cstring>
#include <set>
#include <sstream>
#include <utility>

#include <unistd.h>

#include <llvm/BinaryFormat/Magic.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/IRReader/IRReader.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Object/Archive.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/CrashRecoveryContext.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>

#include "btlp/pass/bitcode_section.h"

namespace hearth::btlp {
namespace {

/// Objects that come with the compiler and libc.
bool belongs_to_system(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  if (name.find("crt") != std::string::npos && name.size() > 2 && name.substr(name.size() - 2) == ".o") return true;
  return path.find("_nonshared.a") != std::string::npos || path.find("libgcc") != std::string::npos ||
         path.find("libc.a") != std::string::npos || path.find("libclang_rt") != std::string::npos ||
         path.find("/usr/lib/") == 0 || path.find("/lib/") == 0;
}

class Reader {
 public:
  Reader(llvm::LLVMContext& context, Inputs& inputs) : context_(context), inputs_(inputs) {}

  void file(const std::string& path, const std::string& member) {
    if (!seen_.insert(path + "(" + member + ")").second) return;
    auto buffer = llvm::MemoryBuffer::getFile(path);
    if (!buffer) return;
    if (member.empty()) {
      content((*buffer)->getMemBufferRef(), path);
      return;
    }
    auto archive = llvm::object::Archive::create((*buffer)->getMemBufferRef());
    if (!archive) return llvm::consumeError(archive.takeError());
    llvm::Error problem = llvm::Error::success();
    for (const auto& child : (*archive)->children(problem)) {
      auto name = child.getName();
      if (!name) {
        llvm::consumeError(name.takeError());
        continue;
      }
      if (*name != member) continue;
      auto part = child.getMemoryBufferRef();
      if (part)
        content(*part, path + "(" + member + ")");
      else
        llvm::consumeError(part.takeError());
    }
    llvm::consumeError(std::move(problem));
  }

  void content(llvm::MemoryBufferRef buffer, const std::string& name) {
    const llvm::StringRef text = buffer.getBuffer();
    if (llvm::identify_magic(text) == llvm::file_magic::bitcode) return bitcode(text, name, true);
    if (text.starts_with("; ModuleID") || llvm::StringRef(name).ends_with(".ll")) {
      llvm::SMDiagnostic problem;
      auto module = llvm::parseIR(buffer, problem, context_);
      if (module == nullptr)
        inputs_.problems.push_back(name + ":" + std::to_string(problem.getLineNo()) + ": " +
                                   problem.getMessage().str());
      else
        add(std::move(module), name);
      return;
    }
    auto object = llvm::object::ObjectFile::createObjectFile(buffer);
    if (!object) {
      llvm::consumeError(object.takeError());
      if (!belongs_to_system(name)) inputs_.problems.push_back(name + ": neither an object nor bitcode");
      return;
    }
    bool found = false;
    for (const auto& section : (*object)->sections()) {
      auto title = section.getName();
      if (!title) {
        llvm::consumeError(title.takeError());
        continue;
      }
      if (*title != kBitcodeSection) continue;
      if (auto data = section.getContents()) {
        found = true;
        records(*data, name);
      } else {
        llvm::consumeError(data.takeError());
      }
    }
    if (!found && !(*object)->isELF()) return;
    if (!found && (*object)->isRelocatableObject() && !belongs_to_system(name)) inputs_.foreign.push_back(name);
  }

 private:
  void records(llvm::StringRef data, const std::string& name) {
    std::vector<std::string_view> found;
    if (const char* problem = split_section({data.data(), data.size()}, found))
      inputs_.problems.push_back(name + ": its section " + kBitcodeSection + " " + problem);
    for (const std::string_view each : found) bitcode({each.data(), each.size()}, name, false);
  }

  void bitcode(llvm::StringRef data, const std::string& name, bool whole_object) {
    std::string problem;
    std::unique_ptr<llvm::Module> module = parsed(llvm::MemoryBufferRef(data, name), whole_object, problem);
    if (module == nullptr) {
      inputs_.problems.push_back(name + ": bitcode that LLVM 19 cannot read: " + problem);
      return;
    }
    // An object of -flto is optimised bitcode that carries the unoptimised one.
    if (whole_object)
      for (llvm::GlobalVariable& variable : module->globals())
        if (variable.getSection() == kBitcodeSection && variable.hasInitializer())
          if (const auto* bytes = llvm::dyn_cast<llvm::ConstantDataArray>(variable.getInitializer()))
            return records(bytes->getRawDataValues(), name);
    if (whole_object && module->getNamedMetadata("hearth.done") != nullptr) {
      inputs_.foreign.push_back(name);
      return;
    }
    add(std::move(module), name);
  }

  /// Bitcode that carries no sum of ours may be anything, and LLVM's reader crashes on some of it. Null: `problem` has
  /// one line.
  std::unique_ptr<llvm::Module> parsed(llvm::MemoryBufferRef buffer, bool stranger, std::string& problem) {
    std::unique_ptr<llvm::Module> module;
    const auto parse = [&] {
      auto read = llvm::parseBitcodeFile(buffer, context_);
      if (read)
        module = std::move(*read);
      else
        problem = llvm::toString(read.takeError());
    };
    if (!stranger) {
      parse();
      return module;
    }
    be_careful();
    llvm::CrashRecoveryContext careful;
    if (!careful.RunSafely([&] {
          parse();
          llvm::raw_string_ostream words(problem);
          if (module != nullptr && llvm::verifyModule(*module, &words)) (void)module.release();
        }))
      problem = "LLVM's reader has crashed";
    problem = problem.substr(0, problem.find('\n'));
    return module;
  }

  /// Crashes and fatal errors come back, and nothing is said on the way.
  static void be_careful() {
    static bool done = false;
    if (std::exchange(done, true)) return;
    const char* words[] = {"hearth-ld", "-disable-auto-upgrade-debug-info"};
    llvm::cl::ParseCommandLineOptions(2, words);
    llvm::CrashRecoveryContext::Enable();
    const auto leave = [](void*, const char*, bool) {
      if (auto* here = llvm::CrashRecoveryContext::GetCurrent()) here->HandleExit(1);
    };
    llvm::install_fatal_error_handler(leave);
    llvm::install_bad_alloc_error_handler(leave);
  }

  void add(std::unique_ptr<llvm::Module> module, const std::string& name) {
    if (inputs_.module == nullptr) {
      inputs_.module = std::move(module);
      return;
    }
    if (llvm::Linker::linkModules(*inputs_.module, std::move(module)))
      inputs_.problems.push_back(name + ": its bitcode cannot be linked with that of the other files");
  }

  llvm::LLVMContext& context_;
  Inputs& inputs_;
  std::set<std::string> seen_;
};

}  // namespace

Inputs read_inputs(const std::string& trace, llvm::LLVMContext& context) {
  Inputs inputs;
  Reader reader(context, inputs);
  std::istringstream lines(trace);
  for (std::string line; std::getline(lines, line);) {
    std::string path = line, member;
    if (!line.empty() && line[0] == '(') {  // "(lib.a)part.o", older GNU
      const std::size_t end = line.find(')');
      if (end == std::string::npos) continue;
      path = line.substr(1, end - 1);
      member = line.substr(end + 1);
    } else if (!line.empty() && line.back() == ')') {  // "lib.a(part.o)"
      const std::size_t begin = line.rfind('(');
      if (begin == std::string::npos) continue;
      path = line.substr(0, begin);
      member = line.substr(begin + 1, line.size() - begin - 2);
    }
    if (path.find(".so") != std::string::npos) continue;
    if (member.empty() && path.size() > 2 && path.substr(path.size() - 2) == ".a") continue;
    reader.file(path, member);
  }
  return inputs;
}

Inputs read_files(const std::vector<std::string>& paths, llvm::LLVMContext& context) {
  Inputs inputs;
  Reader reader(context, inputs);
  for (const std::string& path : paths) {
    if (access(path.c_str(), R_OK) != 0)
      inputs.problems.push_back(path + ": " + std::strerror(errno));
    else
      reader.file(path, "");
  }
  return inputs;
}

}  // namespace hearth::btlp
