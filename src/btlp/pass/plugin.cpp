// The plugin of clang and opt: at the start of the pipeline, before anything is optimised, at every -O level.
//
// Options come from the environment, since clang passes -mllvm options to plugins only after they are loaded:
//   HEARTH_BTLP_MODE     literal, paper or balanced
//   HEARTH_BTLP_GAPS     answers to the gaps of Algorithm 1 (analysis/gaps.h): name=answer,name=answer
//   HEARTH_BTLP_PLACING  before (a thread's routine) or after (its creation)
//   HEARTH_BTLP_EMBED    1: leave the file's bitcode in the object for the link step
//   HEARTH_BTLP_STRIP    1: lines were asked for by `hearth cc` alone; the object gets none
//   HEARTH_BTLP_EXPLAIN_FILE  where the result of this file alone goes
//   HEARTH_BTLP_WHOLE    1: this module is the whole program (opt on linked bitcode)
//   HEARTH_BTLP_INSERT   0: analyse only
//   HEARTH_BTLP_RECORD   sampled or exact: the program records which thread touches what; done last, on optimised code
// One thread per module.
#include <cstdlib>
#include <cstring>

#include <llvm/ADT/SmallString.h>
#include <llvm/Analysis/OptimizationRemarkEmitter.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Passes/PassPlugin.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include "btlp/analysis/analyse.h"
#include "btlp/analysis/creators.h"
#include "btlp/analysis/prepare.h"
#include "btlp/analysis/report.h"
#include "btlp/pass/bitcode_section.h"
#include "btlp/pass/insert.h"
#include "btlp/pass/record.h"

namespace hearth::btlp {
namespace {

bool is_on(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && std::strcmp(value, "1") == 0;
}

Rules wanted_rules() {
  std::string problem;
  const Rules rules = rules_of_environment(problem);
  if (!problem.empty()) llvm::errs() << "hearth: " << problem << "; it is left out.\n";
  return rules;
}

void write(const Program& program, const std::string& path) {
  if (path == "-") {
    llvm::outs() << as_json(program);
    return;
  }
  std::error_code problem;
  llvm::raw_fd_ostream file(path, problem);
  if (problem)
    llvm::errs() << "hearth: " << path << ": " << problem.message() << "\n";
  else
    file << as_file(program, path);
}

/// -Rpass=hearth, -Rpass-missed=hearth and -fsave-optimization-record.
void remark(llvm::Module& module, const Program& program) {
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      if (call == nullptr || creator_called(*call) == nullptr) continue;
      llvm::OptimizationRemarkEmitter emitter(&function);
      for (const Node& node : program.nodes) {
        if (node.number == 0 || node.site != creation_tag(*call)) continue;
        std::string text = node.routine.empty() ? "a thread" : node.routine + "()";
        text += std::string(" is ") + class_name(node.type);
        for (const std::string& reason : node.reasons) text += "; " + reason;
        if (node.type == Class::unknown)
          emitter.emit(llvm::OptimizationRemarkMissed("hearth", "ThreadUnknown", call) << text);
        else
          emitter.emit(llvm::OptimizationRemark("hearth", "ThreadClass", call) << text);
      }
    }
}

void embed(llvm::Module& module, llvm::StringRef bitcode) {
  const BitcodeRecord head = record_of({bitcode.data(), bitcode.size()});
  std::string record(reinterpret_cast<const char*>(&head), sizeof(head));
  record += bitcode;
  record.resize((record.size() + 7) / 8 * 8);
  llvm::embedBufferInModule(module, llvm::MemoryBufferRef(record, "hearth"), kBitcodeSection, llvm::Align(8));
}

bool records() {
  const char* value = std::getenv("HEARTH_BTLP_RECORD");
  return value != nullptr && *value != '\0';
}

class RecordPass : public llvm::PassInfoMixin<RecordPass> {
 public:
  static bool isRequired() { return true; }

  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
    if (!records() || module.getNamedMetadata("hearth.recorded") != nullptr) return llvm::PreservedAnalyses::all();
    module.getOrInsertNamedMetadata("hearth.recorded");
    insert_recording(module, std::strcmp(std::getenv("HEARTH_BTLP_RECORD"), "exact") == 0);
    if (is_on("HEARTH_BTLP_STRIP")) llvm::StripDebugInfo(module);
    return llvm::PreservedAnalyses::none();
  }
};

class Pass : public llvm::PassInfoMixin<Pass> {
 public:
  static bool isRequired() { return true; }  // at -O0, too

  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
    if (module.getNamedMetadata("hearth.done") != nullptr) return llvm::PreservedAnalyses::all();
    module.getOrInsertNamedMetadata("hearth.done");
    const int creations = tag_creations(module);
    llvm::SmallString<0> bitcode;
    llvm::raw_svector_ostream out(bitcode);
    llvm::WriteBitcodeToFile(module, out);
    Program program;
    if (creations > 0) program = analyse_copy(module, bitcode);
    const char* path = std::getenv("HEARTH_BTLP_EXPLAIN_FILE");
    if (path != nullptr && *path != '\0') {
      if (creations == 0) program = nothing(module);
      write(program, path);
    }
    const char* insert = std::getenv("HEARTH_BTLP_INSERT");
    if (creations > 0) {
      remark(module, program);
      if (insert == nullptr || std::strcmp(insert, "0") != 0) insert_placing(module, program);
    }
    if (is_on("HEARTH_BTLP_STRIP") && !records()) llvm::StripDebugInfo(module);
    if (is_on("HEARTH_BTLP_EMBED")) embed(module, bitcode);
    return llvm::PreservedAnalyses::none();
  }

 private:
  static Program nothing(llvm::Module& module) {
    Program program;
    program.name = module.getSourceFileName();
    const Rules rules = wanted_rules();
    program.mode = rules.mode;
    program.gaps = rules.gaps;
    program.insertion = rules.insertion;
    program.nodes.emplace_back();
    return program;
  }

  /// In a context of its own: the analysis changes its module, and the compiler's must stay as it is.
  static Program analyse_copy(llvm::Module& module, llvm::StringRef bitcode) {
    llvm::LLVMContext context;
    auto copy = llvm::parseBitcodeFile(llvm::MemoryBufferRef(bitcode, "copy"), context);
    if (!copy) {
      llvm::consumeError(copy.takeError());
      return nothing(module);
    }
    return analyse(**copy, is_on("HEARTH_BTLP_WHOLE"), wanted_rules(), module.getSourceFileName());
  }
};

}  // namespace
}  // namespace hearth::btlp

extern "C" LLVM_ATTRIBUTE_WEAK __attribute__((visibility("default"))) llvm::PassPluginLibraryInfo
llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "hearth-btlp", HEARTH_VERSION, [](llvm::PassBuilder& builder) {
            builder.registerPipelineStartEPCallback(
                [](llvm::ModulePassManager& passes, llvm::OptimizationLevel) { passes.addPass(hearth::btlp::Pass()); });
            builder.registerOptimizerLastEPCallback([](llvm::ModulePassManager& passes, llvm::OptimizationLevel) {
              passes.addPass(hearth::btlp::RecordPass());
            });
            builder.registerPipelineParsingCallback([](llvm::StringRef name, llvm::ModulePassManager& passes,
                                                       llvm::ArrayRef<llvm::PassBuilder::PipelineElement>) {
              if (name != "hearth-btlp") return false;
              passes.addPass(hearth::btlp::Pass());
              return true;
            });
          }};
}
