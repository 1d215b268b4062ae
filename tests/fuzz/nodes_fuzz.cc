// nodes.hash, nodes.names and nodes.offsets. An input is a recipe: a seed of the hashes, flags, bytes to change, and
// names, one per line. The three files are written correctly from the names, then changed.
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/parallel.h"
#include "format/array_header.h"
#include "format/paths.h"
#include "graph/node_names.h"
#include "graph/verify_nodes.h"
#include "io/checksum.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/file_bytes.h"

namespace octavo {
namespace {

enum Flags : std::uint8_t { kKeepDataSums = 1, kKeepHeaderSums = 2, kCutFile = 4 };

template <typename T>
std::string Raw(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

std::string ArrayFile(ArrayKind kind, std::uint64_t seed, const std::vector<std::uint64_t>& values) {
  const std::string data = Raw(values);
  ArrayHeader header;
  header.kind = kind;
  header.count = values.size();
  header.hash_seed = kind == ArrayKind::kNodeHashes ? seed : 0;
  header.data_checksum = Checksum64(BytesOf(data));
  const auto head = EncodeArrayHeader(header);
  return std::string(reinterpret_cast<const char*>(head.data()), head.size()) + data;
}

struct NodeFiles {
  std::array<std::string, 3> files;            // nodes.hash, nodes.offsets, nodes.names
  std::map<std::uint64_t, std::string> names;  // by hash
};

NodeFiles MakeFiles(std::uint64_t seed, std::string_view lines) {
  NodeFiles made;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    const std::string name(lines.substr(0, end));
    made.names.emplace(HashName(name, seed), name);
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  std::vector<std::uint64_t> hashes;
  std::vector<std::uint64_t> offsets = {0};
  for (const auto& [hash, name] : made.names) {
    hashes.push_back(hash);
    made.files[2] += name + "\n";
    offsets.push_back(made.files[2].size());
  }
  made.files[0] = ArrayFile(ArrayKind::kNodeHashes, seed, hashes);
  made.files[1] = ArrayFile(ArrayKind::kNodeOffsets, 0, offsets);
  return made;
}

// The checksums of what the file contains now.
void SumAgain(std::string& file, std::uint8_t flags) {
  if (file.size() < sizeof(ArrayHeader)) return;
  ArrayHeader header;
  std::memcpy(&header, file.data(), sizeof(header));
  if ((flags & kKeepDataSums) == 0) {
    header.data_checksum = Checksum64(BytesOf(std::string_view(file).substr(sizeof(header))));
  }
  const auto head = EncodeArrayHeader(header);
  if ((flags & kKeepHeaderSums) == 0) std::memcpy(file.data(), head.data(), head.size());
}

// Every name can be looked up, whatever the files contain, and what is found is right. False if a name is not found.
bool ReadNames(NodeNames& names) {
  bool all_found = true;
  std::uint64_t bytes = 0;
  names.DropBehind();
  names.WillRead(0, names.size());
  for (std::uint64_t id = 0; id < names.size(); ++id) {
    const std::string_view name = names.Name(NodeId{id});
    for (const char c : name) bytes += static_cast<unsigned char>(c);
    const std::optional<NodeId> found = names.Find(name);
    if (found) MUST(Value(*found) < names.size() && names.Name(*found) == name);
    all_found = all_found && found && Value(*found) == id;
  }
  MUST(!names.Find("no such name, hopefully").has_value());
  names.Forget(0, names.size());
  volatile const std::uint64_t kept = bytes;  // so that the bytes are read
  return all_found && kept == bytes;
}

void Run(FuzzInput input) {
  const auto flags = input.Value<std::uint8_t>();
  const auto seed = input.Value<std::uint8_t>();
  struct Change {
    std::uint8_t file;
    std::uint16_t place;
    std::uint8_t value;
  };
  std::vector<Change> changes(input.Value<std::uint8_t>() % 16);
  for (Change& change : changes) {
    change = {input.Value<std::uint8_t>(), input.Value<std::uint16_t>(), input.Value<std::uint8_t>()};
  }
  NodeFiles made = MakeFiles(seed, input.rest());
  const auto right = made.files;
  for (const Change& change : changes) {
    std::string& file = made.files[change.file % 3];
    if (!file.empty()) file[change.place % file.size()] = static_cast<char>(change.value);
  }
  for (std::string* file : {&made.files[0], &made.files[1]}) {
    if ((flags & kCutFile) != 0 && !changes.empty()) file->resize(file->size() - changes[0].value % (file->size() + 1));
    if (*file != right[static_cast<std::size_t>(file - made.files.data())]) SumAgain(*file, flags);
  }

  const GraphPaths paths(ScratchFolder());
  WriteFileBytes(paths.NodeHashes(), made.files[0]);
  WriteFileBytes(paths.NodeOffsets(), made.files[1]);
  WriteFileBytes(paths.NodeNames(), made.files[2]);
  bool readable = false;
  absl::StatusOr<std::unique_ptr<NodeNames>> names = NodeNames::Open(paths);
  if (names.ok()) {
    readable = ReadNames(**names);
  } else {
    CheckError(names.status(), {ErrorKind::kCorrupt});
  }
  CheckReport report;
  GraphCheckOptions options;
  options.reading.piece_bytes = std::size_t{128} << 10;
  const CheckedNodes checked = WithThreads(1, [&] { return VerifyNodes(paths, options, report); });
  for (const Finding& finding : report.findings()) CheckMessage(DescribeFinding(finding));
  MUST(report.unread_count() == 0);
  // What verify accepts can be opened and its names found; unchanged files are accepted.
  if (report.damage_count() == 0) MUST(names.ok() && readable && checked.hashes && checked.offsets);
  if (made.files == right) MUST(report.damage_count() == 0);
  if (made.files == right) {
    std::uint64_t id = 0;
    for (const auto& [hash, name] : made.names) {
      MUST((*names)->Name(NodeId{id}) == name && (*names)->Find(name) == NodeId{id});
      ++id;
    }
  }
}

}  // namespace
}  // namespace octavo

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  octavo::Run(octavo::FuzzInput(data, size));
  return 0;
}
