// The public benchmark graphs that some tests need (data/README.md). They are not part of the project: the environment
// variable OCTAVO_DATA, or the CMake cache entry of that name, names their folder.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "gtest/gtest.h"

namespace octavo {

// Returns the path of `name`, e.g. "UMLS/train.txt.zst"; it need not exist.
inline std::filesystem::path TestData(const std::string& name) {
  const char* folder = std::getenv("OCTAVO_DATA");
  return std::filesystem::path(folder != nullptr && *folder != '\0' ? folder : OCTAVO_DATA_DEFAULT) / name;
}

// True if a missing input is a failure: under continuous integration (CI=true) nothing is skipped silently.
inline bool MissingDataFails() {
  const char* ci = std::getenv("CI");
  return ci != nullptr && (std::string(ci) == "true" || std::string(ci) == "1");
}

}  // namespace octavo

// Ends the test as skipped if the benchmark file is missing, as failed under CI=true. First line of a test's body.
#define OCTAVO_REQUIRE_DATA(name)                                                                \
  do {                                                                                           \
    if (const auto path_ = ::octavo::TestData(name); !std::filesystem::exists(path_)) {          \
      if (::octavo::MissingDataFails()) FAIL() << path_ << " is absent; set OCTAVO_DATA";        \
      GTEST_SKIP() << "NOT TESTED: " << path_ << " is absent; set OCTAVO_DATA (data/README.md)"; \
    }                                                                                            \
  } while (false)
