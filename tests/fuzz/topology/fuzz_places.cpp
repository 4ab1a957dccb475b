// Fuzzes the texts from which places are made: OMP_PLACES, GOMP_CPU_AFFINITY, KMP_AFFINITY, KMP_HW_SUBSET,
// and the kernel's CPU lists. The first byte chooses the variable and the machine; the rest is the value.
//
// Beyond "no crash, no hang": the result is never empty, never holds a CPU that we may not use, whatever was
// refused is remarked upon, and columns lie within the text.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "../require.h"
#include "topology/affinity_env.h"
#include "topology/model.h"
#include "topology/places.h"

namespace {

using namespace hearth::topology;

const Machine& machine(unsigned which) {
  static const Machine machines[2] = {
      [] {
        LoadedMachine loaded = parse_model(
            "schema = 1\nname = \"box\"\n[structure]\nmark = \"A\"\npackages = 2\nnodes_per_package = "
            "2\nllcs_per_node = 2\n"
            "cores_per_llc = 4\nthreads_per_core = 2\n",
            "box");
        return loaded.machine;
      }(),
      [] {
        LoadedMachine loaded = parse_model(
            "schema = 1\nname = \"odd\"\n[[node]]\nmark = \"A\"\npackage = 0\ncores = [{count = 2, threads = "
            "2}, {count = 3, kind "
            "= \"slow\", capacity = 300}]\n[[node]]\nmark = \"A\"\nnumber = 5\n",
            "odd");
        loaded.machine.restrict_to(CpuMask{1, 2, 5}, {}, {});
        return loaded.machine;
      }()};
  return machines[which % 2];
}

void check(const PlaceList& list, const Machine& on) {
  for (const CpuMask& place : list.places) REQUIRE(!place.empty() && on.usable.contains(place));
}

void check(const std::vector<Remark>& remarks, std::string_view text) {
  for (const Remark& remark : remarks) {
    REQUIRE(!remark.wrong.empty() && remark.column <= text.size() + 1);
    REQUIRE(!remark_line("X", text, remark).empty());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const Machine& on = machine(data[0] >> 7);
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 5) {
    case 0: {
      const ParsedPlaces parsed = parse_places(text, on);
      REQUIRE(!parsed.list.places.empty());
      REQUIRE(!parsed.refused || !parsed.remarks.empty());
      check(parsed.list, on);
      check(parsed.remarks, text);
      if (!parsed.refused && parsed.list.size() < 1000) {
        // What is printed means the same again; ranges are written 0-3 there and 0:4 in OMP_PLACES.
        std::string again;
        for (const CpuMask& place : parsed.list.places) {
          again += again.empty() ? "{" : ",{";
          std::string inside;
          place.for_each([&](unsigned cpu) { inside += (inside.empty() ? "" : ",") + std::to_string(cpu); });
          again += inside + "}";
        }
        REQUIRE(parse_places(again, on).list.places == parsed.list.places);
      }
      break;
    }
    case 1: {
      const ParsedPlaces parsed = parse_gomp_cpu_affinity(text, on);
      REQUIRE(!parsed.list.places.empty());
      check(parsed.list, on);
      check(parsed.remarks, text);
      break;
    }
    case 2: {
      const KmpAffinity parsed = parse_kmp_affinity(text, on);
      REQUIRE(!parsed.refused || !parsed.remarks.empty());
      REQUIRE(parsed.bind == ProcBind::false_ || !parsed.list.places.empty());
      check(parsed.list, on);
      check(parsed.remarks, text);
      break;
    }
    case 3: {
      const HwSubset parsed = parse_kmp_hw_subset(text, on);
      REQUIRE(!parsed.cpus.empty() && on.usable.contains(parsed.cpus));
      check(parsed.remarks, text);
      break;
    }
    default: {
      CpuMask mask;
      if (CpuMask::parse_list(text, mask)) {
        CpuMask again;
        REQUIRE(CpuMask::parse_list(mask.list(), again) && again == mask);
      }
    }
  }
  return 0;
}
