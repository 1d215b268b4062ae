// Where a new run takes rows from: what --init says.
#pragma once

#include <filesystem>

namespace octavo {

struct InitialSource {
  std::filesystem::path source = {};  // a run folder, a .npy or a word2vec file; empty: none
  std::filesystem::path names = {};   // of a .npy: a name a line
  bool optimizer_state = true;        // of a run, where it fits
  std::filesystem::path graph = {};   // of a run, where it is no longer where its run.json says; not kept

  bool given() const { return !source.empty(); }
};

}  // namespace octavo
