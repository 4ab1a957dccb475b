// The table of accounts: each task construct finds its own again, also while threads meet them for the first time together.
#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

#include "runtime/locality/accounts.h"

namespace hearth::rt {
namespace {

// Bodies as a compiler lays them out: 16 bytes aligned, close together. Nobody calls them.
const policy::Account* account_of_body(std::uintptr_t body) {
  Task task;
  task.function = reinterpret_cast<TaskFunction>(body);
  return &account_of(&task);
}
constexpr std::uintptr_t body(std::uintptr_t construct) { return 0x401000 + construct * 0x60; }

TEST(Accounts, EachConstructHasItsOwn) {
  constexpr std::uintptr_t kConstructs = 64;
  std::vector<std::vector<const policy::Account*>> seen(4);
  std::vector<std::thread> threads;
  for (auto& mine : seen)
    threads.emplace_back([&mine] {
      for (std::uintptr_t i = 0; i < kConstructs; ++i) mine.push_back(account_of_body(body(i)));
    });
  for (std::thread& thread : threads) thread.join();
  for (const auto& mine : seen) EXPECT_EQ(mine, seen.front());
  EXPECT_EQ(std::set<const policy::Account*>(seen.front().begin(), seen.front().end()).size(), kConstructs);
}

TEST(Accounts, VeryManyConstructsShareSome) {
  std::set<const policy::Account*> accounts;
  for (std::uintptr_t i = 0; i < 10'000; ++i) accounts.insert(account_of_body(body(i)));
  EXPECT_LE(accounts.size(), 256u);
  EXPECT_EQ(account_of_body(body(9'999)), account_of_body(body(9'999)));
}

}  // namespace
}  // namespace hearth::rt
