// The source of a new run's initial rows: the arguments of --init.
#pragma once

#include <filesystem>

namespace octavo {

struct InitialSource {
  std::filesystem::path source = {};  // a run folder, a .npy or a word2vec file; empty: none
  std::filesystem::path names = {};   // for a .npy: a file with one name per line
  bool optimizer_state = true;        // of a run, if it fits
  std::filesystem::path graph = {};   // of a run, if it is not where its run.json says; not stored

  bool given() const { return !source.empty(); }
};

}  // namespace octavo
