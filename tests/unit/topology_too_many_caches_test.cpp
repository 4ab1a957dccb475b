// More last-level caches than there can be locations: the nodes are the locations, and the user is told.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "topology/current.h"

namespace hearth::topology {
namespace {

TEST(TooManyCaches, LeaveTheNodesAsLocations) {
  const std::string path = testing::TempDir() + "too-many-caches.toml";
  std::FILE* file = std::fopen(path.c_str(), "w");
  ASSERT_NE(file, nullptr);
  std::fputs(
      "schema = 1\nname = \"too-many-caches\"\n[structure]\nmark = \"A\"\npackages = 2\nnodes_per_package = "
      "2\n"
      "llcs_per_node = 20\n",
      file);
  std::fclose(file);
  ASSERT_TRUE(pretend(path));
  choose_locations(LocationKind::llc, 64);
  testing::internal::CaptureStderr();
  const Machine& made = machine();
  const std::string message = testing::internal::GetCapturedStderr();
  std::remove(path.c_str());
  EXPECT_EQ(made.llcs.size(), 80U);
  EXPECT_EQ(made.locations.size(), 4U);
  EXPECT_EQ(made.location_kind, LocationKind::node);
  EXPECT_NE(message.find("HEARTH_LOCATION=llc: this machine has 80 last-level caches"), std::string::npos) << message;
  EXPECT_NE(message.find("64"), std::string::npos) << message;
}

}  // namespace
}  // namespace hearth::topology
