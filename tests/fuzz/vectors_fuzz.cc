// Files of vectors, and known.rows. The input is the file; for a .npy the names are "a", "b", ...
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "format/known_rows.h"
#include "tests/fuzz/fuzz.h"
#include "vectors/vector_file.h"

namespace octavo {
namespace {

using Named = std::vector<std::pair<std::string, std::vector<float>>>;

absl::StatusOr<Named> ReadVectors(const std::string& path, const std::string& names) {
  ASSIGN_OR_RETURN(const auto source, OpenVectorFile(path, names));
  Named list;
  while (true) {
    ASSIGN_OR_RETURN(const std::optional<NamedVector> vector, source->Next());
    if (!vector) return list;
    MUST(vector->values.size() == source->columns());
    for (const float value : vector->values) MUST(std::isfinite(value));
    list.push_back({std::string(vector->name), {vector->values.begin(), vector->values.end()}});
  }
}

// Vectors written as word2vec text are read back equal. Names have no blanks if the file's were words.
void CheckAgain(const Named& list, MemoryFile& file) {
  std::string text = fmt::format("{} {}\n", list.size(), list.empty() ? 1 : list[0].second.size());
  for (const auto& [name, values] : list) {
    if (name.empty() || name.find_first_of(std::string_view(" \n\0", 3)) != std::string::npos) return;
    text += name;
    for (const float value : values) text += fmt::format(" {}", value);
    text += '\n';
  }
  file.Fill(text);
  const absl::StatusOr<Named> again = ReadVectors(file.path(), "");
  MUST(again.ok() && *again == list);
}

}  // namespace
}  // namespace octavo

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace octavo;
  static MemoryFile file;
  static MemoryFile names;
  const std::string text(reinterpret_cast<const char*>(data), size);
  file.Fill(text);
  names.Fill("a\nb\nc\n");
  const bool array = text.starts_with("\x93NUMPY");
  const absl::StatusOr<Named> list = ReadVectors(file.path(), array ? names.path() : "");
  if (!list.ok()) CheckError(list.status(), {ErrorKind::kInput, ErrorKind::kUsage});
  if (list.ok()) CheckAgain(*list, file);

  for (const auto& [nodes, relations] : {std::pair(135, 92), std::pair(0, 0)}) {
    const auto known =
        DecodeKnownRows(text, static_cast<std::uint64_t>(nodes), static_cast<std::uint64_t>(relations), "f");
    if (!known.ok()) CheckError(known.status(), {ErrorKind::kCorrupt});
    MUST(!known.ok() || EncodeKnownRows(*known) == text);
  }
  return 0;
}
