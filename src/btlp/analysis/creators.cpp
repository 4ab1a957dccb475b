#include "btlp/analysis/creators.h"

#include <llvm/IR/Function.h>
#include <llvm/IR/InstrTypes.h>

namespace hearth::btlp {
namespace {

constexpr Creator kCreators[] = {
    {.name = "pthread_create", .shown = "pthread_create", .handle = 0, .attributes = 1, .routine = 2, .argument = 3},
    {.name = "thrd_create", .shown = "thrd_create", .handle = 0, .routine = 1, .argument = 2, .returns_int = true},
    {.name = "_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE",
     .shown = "std::thread",
     .shape = Shape::state,
     .handle = 0,
     .routine = 1},
    {.name = "g_thread_new", .shown = "g_thread_new", .routine = 1, .argument = 2, .zero_is_success = false},
    {.name = "g_thread_try_new", .shown = "g_thread_try_new", .routine = 1, .argument = 2, .zero_is_success = false},
    {.name = "SDL_CreateThread",
     .shown = "SDL_CreateThread",
     .routine = 0,
     .argument = 2,
     .returns_int = true,
     .zero_is_success = false},
};

}  // namespace

const Creator* find_creator(std::string_view name) {
  for (const Creator& creator : kCreators)
    if (creator.name == name) return &creator;
  return nullptr;
}

const Creator* creator_called(const llvm::CallBase& call) {
  const llvm::Function* callee = call.getCalledFunction();
  if (callee == nullptr || !callee->isDeclaration()) return nullptr;
  const Creator* creator = find_creator(std::string_view(callee->getName().data(), callee->getName().size()));
  if (creator == nullptr) return nullptr;
  const int most = std::max({creator->handle, creator->attributes, creator->routine, creator->argument});
  return static_cast<int>(call.arg_size()) > most ? creator : nullptr;
}

}  // namespace hearth::btlp
