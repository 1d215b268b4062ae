// octavo index: builds a file that finds nearest neighbours without comparing all vectors.

#include <CLI/App.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>

#include "base/byte_size.h"
#include "base/status.h"
#include "cmd/flags.h"
#include "cmd/index.h"
#include "cmd/interrupt.h"
#include "cmd/limits.h"
#include "cmd/opened_run.h"
#include "cmd/output_target.h"
#include "cmd/program.h"
#include "cmd/reading_memory.h"
#include "cmd/run_flags.h"
#include "evaluate/nearest.h"
#include "export/output_file.h"
#include "fmt/format.h"
#include "index/cosine_index.h"
#include "io/write_behind.h"
#include "nlohmann/json.hpp"

namespace octavo {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kMaxSample = 1'000'000;

struct IndexFlags {
  RunFlags run;
  std::string output;
  std::uint64_t m = 16;
  std::uint64_t ef_construction = 200;
  std::uint64_t recall = 100;
  std::uint64_t k = 10;
  std::uint64_t ef = kDefaultEf;
  bool json = false;
};

// The header is committed last: an index without its header, or with that of another file, is rejected.
absl::Status WriteIndex(const CosineIndex& index, const TrainedRun& run, OutputFile& output, OutputFile& beside) {
  ASSIGN_OR_RETURN(IndexHeader header, index.Write(output));
  header.run_id = run.run_id;
  header.generation = run.generation;
  RETURN_IF_ERROR(beside.Append(EncodeIndexHeader(header)));
  return OutputFile::CommitAll(std::array{&output, &beside});
}

void PrintReport(const IndexFlags& flags, const CosineIndex& index, const ModelSpec& model, std::uint64_t bytes,
                 int threads) {
  const std::uint64_t sample = std::min(flags.recall, index.nodes());
  const double recall = sample == 0 ? 0 : index.Recall(sample, flags.k, flags.ef, threads);
  if (!flags.json) {
    fmt::print("index of {} nodes, {} dimensions each, m {}, ef-construction {}\n", index.nodes(), model.dim, flags.m,
               flags.ef_construction);
    if (sample > 0) fmt::print("{}\n", DescribeRecall(recall, flags.k, flags.ef, sample));
    return;
  }
  Json object = Json::object();
  object["nodes"] = index.nodes();
  object["dim"] = model.dim;
  object["m"] = flags.m;
  object["ef_construction"] = flags.ef_construction;
  object["bytes"] = bytes;
  if (sample > 0) object["recall"] = {{"recall", recall}, {"k", flags.k}, {"ef", flags.ef}, {"sample", sample}};
  fmt::print("{}\n", object.dump(2));
}

absl::Status RunIndex(Program& program, const IndexFlags& flags) {
  EndOnInterrupt end(program, flags.output);
  ASSIGN_OR_RETURN(TrainedRun run, OpenRun(program, flags.run));
  RETURN_IF_ERROR(CheckRegularTarget("an index", flags.output, IndexHeaderPath(flags.output), flags.run, *run.graph));
  const std::uint64_t nodes = run.graph->node_count();
  const std::uint64_t index_bytes = CosineIndex::MemoryBytes(nodes, run.model.dim, flags.m);
  const std::uint64_t search_bytes = CosineIndex::SearchBytes(nodes, std::max(flags.ef, flags.k));
  const std::uint64_t least = std::max(LeastSearchMemory(EmbeddedOf(run)), flags.recall > 0 ? search_bytes : 0);
  ASSIGN_OR_RETURN(const ReadingMemory memory, ShareReadingMemory(program, "index", run, index_bytes + least));
  ASSIGN_OR_RETURN(OutputFile output, OutputFile::Open(flags.output));
  ASSIGN_OR_RETURN(OutputFile beside, OutputFile::Open(IndexHeaderPath(flags.output).string()));
  if (memory.drops_behind || memory.bytes < 2 * index_bytes) output.WriteBehind(WriteBehind::kWindowBytes / 2);
  IndexOptions options;
  options.m = static_cast<std::uint32_t>(flags.m);
  options.ef_construction = flags.ef_construction;
  options.memory_bytes = memory.bytes - index_bytes;
  options.progress = [&](std::uint64_t done) {
    program.reporter.Show({.phase = "indexing",
                           .share = static_cast<double>(done) / static_cast<double>(nodes),
                           .done = static_cast<double>(done),
                           .unit = "nodes"});
  };
  ASSIGN_OR_RETURN(const CosineIndex index, CosineIndex::Build(EmbeddedOf(run), options));
  RETURN_IF_ERROR(WriteIndex(index, run, output, beside));
  end.Made();
  program.reporter.EndProgress();
  program.reporter.Info(
      fmt::format("{}: {}{}", output.name(), FormatByteSize(output.bytes_written()), ReplacedText(output)));
  PrintReport(flags, index, run.model, output.bytes_written(),
              SearchThreads(program, memory.bytes - index_bytes - least, search_bytes));
  return WarnIfCommitted(program, flags.run, run);
}

}  // namespace

std::string DescribeRecall(double recall, std::uint64_t k, std::uint64_t ef, std::uint64_t sample) {
  return fmt::format("recall@{} {:.4f} (ef {}, {} nodes, against an exact search)", k, recall, ef, sample);
}

int SearchThreads(const Program& program, std::uint64_t rest_bytes, std::uint64_t search_bytes) {
  const auto threads = static_cast<std::uint64_t>(ThreadCount(program));
  return static_cast<int>(std::min(threads, 1 + rest_bytes / search_bytes));
}

void AddIndexVerb(CLI::App& app, Program& program) {
  CLI::App* verb = app.add_subcommand("index", "Build an approximate index of a run's nodes for query neighbors");
  const auto flags = std::make_shared<IndexFlags>();
  AddRunFlags(*verb, flags->run);
  RefuseEmpty(verb->add_option("--output", flags->output,
                               "File to write, replacing an existing one; FILE.octavo beside it identifies the run"))
      ->required()
      ->type_name("FILE");
  AddWholeNumber(*verb, "--m", flags->m, kMinIndexM, kMaxIndexM, "Links per node; twice as many on the lowest level");
  AddWholeNumber(*verb, "--ef-construction", flags->ef_construction, 1, kMaxEf,
                 "Candidates kept while a node's links are searched: more take longer but find better links");
  AddWholeNumber(*verb, "--recall", flags->recall, 0, kMaxSample,
                 "Nodes whose neighbours are compared with those of an exact search; 0 compares none");
  AddWholeNumber(*verb, "-k", flags->k, 1, kMaxEf, "Neighbours compared for each");
  AddWholeNumber(*verb, "--ef", flags->ef, 1, kMaxEf, "Candidates kept in these searches");
  verb->add_flag("--json", flags->json, "Print one JSON object");
  verb->footer(
      "The index is hnswlib's, by cosine, labels are node ids. One thread builds it, so that its bytes depend only on\n"
      "vectors and flags; it takes nodes * (4 dim + 8 m + 160) bytes of memory.");
  verb->final_callback([&program, flags] { program.run = [flags](Program& p) { return RunIndex(p, *flags); }; });
}

}  // namespace octavo
