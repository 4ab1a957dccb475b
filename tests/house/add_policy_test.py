#!/usr/bin/env python3
"""A new policy is two files: its own, and a line in src/base/policies.def.

Usage: add_policy_test.py SOURCE_ROOT C++_COMPILER

Copies the source files of base/, policy/ and what these include, adds a policy as CONTRIBUTING.md says, compiles that,
and asks for the policy by name: in the list that the simulator and the benchmarks use, in the legal values and the
meaning of HEARTH_POLICY, and by what it decides. CMake finds a new file in src/policy/ by itself.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv[1])
COMPILER = sys.argv[2]

POLICY = """
#include "policy/policies.h"
namespace hearth::policy {
namespace {
// Every task goes to the last location.
class ToTheEnd final : public TaskPolicy {
 public:
  Location deal(const MachineView& machine, const Need&, Location, const LoadView&) const override {
    return machine.locations - 1;
  }
  bool may_steal(const MachineView&, Location, Location, std::uint32_t) const override { return true; }
  bool may_steal_dealt(const MachineView&, Location, Location, const FarTasks&, const Idleness&) const override {
    return true;
  }
};
constinit const ToTheEnd the_to_the_end;
}  // namespace
constinit const TaskPolicy& to_the_end = the_to_the_end;
}  // namespace hearth::policy
"""
LINE = 'HEARTH_POLICY(to_the_end, "to-the-end", "it goes to the last location.")\n'
PROGRAM = """
#include <cstdio>
#include "base/options.h"
#include "policy/policies.h"
int main() {
  using namespace hearth;
  const policy::TaskPolicy* found = policy::find_policy("to-the-end");
  if (found == nullptr) return 1;
  policy::MachineView machine;
  machine.locations = 7;
  const placement::Need need(7);
  std::printf("%s %d\\n", found->name(), static_cast<int>(found->deal(machine, need, 0, {})));
  const Option& row = option(OptionId::hearth_policy);
  std::printf("%.*s\\n", static_cast<int>(row.legal.size()), row.legal.data());
  std::printf("%.*s\\n", static_cast<int>(row.meaning.size()), row.meaning.data());
}
"""


class APolicy(unittest.TestCase):
    def test_is_two_files(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            shutil.copytree(ROOT / "src", folder / "src",
                            ignore=lambda _, names: [n for n in names if not n.endswith((".h", ".def")) and "." in n])
            (folder / "src/policy/to_the_end.cpp").write_text(POLICY)
            with open(folder / "src/base/policies.def", "a") as registry:
                registry.write(LINE)
            (folder / "program.cpp").write_text(PROGRAM)
            originals = [ROOT / "src/policy" / f"{one}.cpp"
                         for one in ("adaptive", "home_cache", "locality", "policies", "work_stealing")]
            originals += [ROOT / "src/base" / f"{one}.cpp" for one in ("log", "options", "parse")]
            program = folder / "program"
            # The originals, against the copied headers.
            copies = []
            for original in originals:
                copies.append(folder / "src" / original.relative_to(ROOT / "src"))
                shutil.copy(original, copies[-1])
            subprocess.run([COMPILER, "-std=c++20", "-O0", "-w", "-D_GNU_SOURCE", "-I", folder / "src", "-I",
                            ROOT / "include", "-o", program, folder / "program.cpp",
                            folder / "src/policy/to_the_end.cpp", *copies], check=True)
            said = subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()
        self.assertEqual(said[0], "to-the-end 6")
        self.assertTrue(said[1].endswith(" or to-the-end"), said[1])
        self.assertTrue(said[2].endswith("With to-the-end it goes to the last location."), said[2])

    def test_is_found_by_the_build(self):
        self.assertIn("CONFIGURE_DEPENDS", (ROOT / "src/policy/CMakeLists.txt").read_text())


unittest.main(argv=sys.argv[:1])
