#include "query/opened_index.h"

#include <utility>

#include "base/status.h"
#include "fmt/format.h"
#include "query/reading_memory.h"

namespace octavo {

absl::StatusOr<OpenedIndex> OpenIndex(std::uint64_t limit, const std::string& path, TrainedRun& run,
                                      std::string_view folder, std::uint64_t work_bytes) {
  ASSIGN_OR_RETURN(const IndexHeader header, ReadIndexHeader(path));
  if (header.run_id != run.run_id) {
    return CorruptError(fmt::format("{}: is not an index of run {}; build one with octavo index", path, folder));
  }
  if (header.generation != run.generation || header.nodes != run.graph->node_count() || header.dim != run.model.dim) {
    return CorruptError(
        fmt::format("{}: is of generation {} of the run, {} nodes of {} numbers; {} has generation {}, {} "
                    "nodes of {} numbers; build the index again",
                    path, header.generation, header.nodes, header.dim, folder, run.generation, run.graph->node_count(),
                    run.model.dim));
  }
  const std::uint64_t index_bytes = CosineIndex::MemoryBytes(header.nodes, header.dim, header.m);
  ASSIGN_OR_RETURN(const ReadingMemory memory,
                   ShareReadingMemory(limit, "query --index", run, index_bytes + work_bytes));
  const std::uint64_t rest = memory.bytes - index_bytes - work_bytes;
  const bool cached = !memory.drops_behind && rest >= header.file_bytes;
  ASSIGN_OR_RETURN(CosineIndex index, CosineIndex::Load(path, header, /*drop_behind=*/!cached));
  return OpenedIndex{std::move(index), rest - (cached ? header.file_bytes : 0)};
}

}  // namespace octavo
