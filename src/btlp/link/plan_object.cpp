#include "btlp/link/plan_object.h"

#include <algorithm>
#include <memory>
#include <numeric>

#include <llvm/IR/Constants.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Target/TargetOptions.h>

#include "btlp/analysis/classify.h"
#include "btlp/support/plan.h"

namespace hearth::btlp {
namespace {

/// Threads that share data strongly, directly or over others, have one number; -1: with nobody.
std::vector<int> sets_of(const Program& program) {
  std::vector<int> set(program.nodes.size());
  std::iota(set.begin(), set.end(), 0);
  const auto root = [&](int node) {
    while (set[node] != node) node = set[node];
    return node;
  };
  std::vector<bool> shares(program.nodes.size(), false);
  for (const Edge& edge : program.edges) {
    if (edge.from == 0 || edge.to == 0 || (program.decided(Gap::weak_sharing) && !edge.strong)) continue;
    set[root(edge.to)] = root(edge.from);
    shares[edge.from] = shares[edge.to] = true;
  }
  std::vector<int> result(program.nodes.size(), -1);
  for (const Node& node : program.nodes)
    if (node.number > 0 &&
        (shares[node.number] || (node.type == Class::side_by_side && program.mode != Mode::balanced)))
      result[node.number] = root(node.number);
  return result;
}

void fill(llvm::Module& module, const Program& program) {
  llvm::LLVMContext& context = module.getContext();
  auto* byte = llvm::Type::getInt8Ty(context);
  auto* word = llvm::Type::getInt32Ty(context);
  const auto text = [&](const std::string& words) -> llvm::Constant* {
    llvm::Constant* value = llvm::ConstantDataArray::getString(context, words);
    return new llvm::GlobalVariable(module, value->getType(), true, llvm::GlobalValue::PrivateLinkage, value, "text");
  };
  const std::vector<int> sets = sets_of(program);
  std::vector<llvm::Constant*> entries;
  for (const Node& node : program.nodes) {
    if (node.number == 0) continue;
    llvm::Constant* fields[] = {
        text(node.site),
        text(node.routine.empty() ? "?" : node.routine),
        llvm::ConstantFP::get(llvm::Type::getDoubleTy(context), node.cost.flops + node.cost.integer_operations),
        llvm::ConstantInt::getSigned(word, sets[node.number]),
        llvm::ConstantInt::get(byte, static_cast<unsigned>(node.type)),
        llvm::ConstantInt::get(byte, node.many),
        llvm::ConstantInt::get(byte, insertion_of(program, node) == Insertion::after),
        llvm::ConstantInt::get(byte, 0)};
    entries.push_back(llvm::ConstantStruct::getAnon(context, fields));
  }
  auto* array = llvm::ArrayType::get(entries.front()->getType(), entries.size());
  auto* list = new llvm::GlobalVariable(module, array, true, llvm::GlobalValue::PrivateLinkage,
                                        llvm::ConstantArray::get(array, entries), "entries");
  llvm::Constant* fields[] = {llvm::ConstantInt::get(word, HEARTH_BTLP_VERSION),
                              llvm::ConstantInt::get(word, static_cast<unsigned>(program.mode)),
                              llvm::ConstantInt::get(word, entries.size()),
                              llvm::ConstantInt::get(word, program.nodes.size()),
                              llvm::ConstantInt::get(word, running_rules(program)), list};
  llvm::Constant* value = llvm::ConstantStruct::getAnon(context, fields);
  auto* plan = new llvm::GlobalVariable(module, value->getType(), true, llvm::GlobalValue::ExternalLinkage, value,
                                        "hearth_btlp_plan");
  plan->setVisibility(llvm::GlobalValue::HiddenVisibility);
}

}  // namespace

std::string write_plan(const Program& program, const std::string& triple, const std::string& path) {
  llvm::InitializeAllTargetInfos();
  llvm::InitializeAllTargets();
  llvm::InitializeAllTargetMCs();
  llvm::InitializeAllAsmPrinters();
  llvm::LLVMContext context;
  llvm::Module module("hearth plan", context);
  std::string problem;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, problem);
  if (target == nullptr) return problem;
  const std::unique_ptr<llvm::TargetMachine> machine(
      target->createTargetMachine(triple, "", "", llvm::TargetOptions(), llvm::Reloc::PIC_));
  module.setTargetTriple(triple);
  module.setDataLayout(machine->createDataLayout());
  fill(module, program);
  std::error_code failed;
  llvm::raw_fd_ostream file(path, failed);
  if (failed) return path + ": " + failed.message();
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, file, nullptr, llvm::CodeGenFileType::ObjectFile))
    return "no object code for " + triple;
  passes.run(module);
  return {};
}

}  // namespace hearth::btlp
