// Uses octavo as a library: writes a table that NumPy reads.

#include <array>
#include <cstdio>

#include "format/npy_header.h"
#include "io/file.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::array<float, 4> values = {1, 2, 3, 4};
  auto file = octavo::File::Create(argv[1]);
  const bool written = file.ok() && file->WriteAt(0, octavo::EncodeNpyHeader({.rows = 2, .columns = 2})).ok() &&
                       file->WriteAt(octavo::kNpyHeaderBytes, octavo::AsBytes(values)).ok() && file->Close().ok();
  if (!written) std::fputs("consumer: the table could not be written\n", stderr);
  return written ? 0 : 1;
}
