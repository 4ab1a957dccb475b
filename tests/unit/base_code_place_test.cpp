// Code is named by its file, what that was built as, and an offset: the same in every process that runs it.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>

#include <dlfcn.h>
#include <unistd.h>

#include "base/code_place.h"

namespace hearth {
namespace {

TEST(CodePlace, TheProgramsOwn) {
  CodePlace place;
  ASSERT_TRUE(find_code(reinterpret_cast<const void*>(&find_code), place));
  EXPECT_EQ(place.module, std::filesystem::read_symlink("/proc/self/exe").string());
  EXPECT_NE(place.build[0], '\0');
  Dl_info info;
  ASSERT_NE(dladdr(reinterpret_cast<const void*>(&find_code), &info), 0);
  EXPECT_EQ(place.offset, reinterpret_cast<std::uintptr_t>(&find_code) - reinterpret_cast<std::uintptr_t>(info.dli_fbase));
}

TEST(CodePlace, ALibrarys) {
  CodePlace place;
  ASSERT_TRUE(find_code(dlsym(RTLD_DEFAULT, "getpid"), place));
  EXPECT_NE(std::strstr(place.module, "libc"), nullptr) << place.module;
  EXPECT_EQ(place.module[0], '/');
}

TEST(CodePlace, WhatIsNoCodeHasNone) {
  CodePlace place;
  int local = 0;
  EXPECT_FALSE(find_code(&local, place));
  EXPECT_FALSE(find_code(nullptr, place));
}

}  // namespace
}  // namespace hearth
