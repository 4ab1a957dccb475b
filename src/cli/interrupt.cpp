// See interrupt.h.
#include "cli/interrupt.h"

#include <atomic>
#include <cstdlib>

#include "cli/child.h"

namespace hearth::cli {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
// Relaxed: nothing else is handed over by it, and threads of a sweep may see it late.
std::atomic<int> came{0};

void note(int number) { came.store(number, std::memory_order_relaxed); }

}  // namespace

InterruptWatch::InterruptWatch() {
  struct sigaction action = {};
  action.sa_handler = note;
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  for (int i = 0; i < 3; ++i) {
    sigaction(kSignals[i], nullptr, &before_[i]);
    if (before_[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &action, nullptr);  // nohup stays nohup
  }
}

InterruptWatch::~InterruptWatch() {
  for (int i = 0; i < 3; ++i) sigaction(kSignals[i], &before_[i], nullptr);
}

int interrupted() { return came.load(std::memory_order_relaxed); }

void end_interrupted() { std::_Exit(end_like(interrupted())); }

}  // namespace hearth::cli
