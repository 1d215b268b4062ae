#include "cmd/program_facts.h"

#include <algorithm>

#include "absl/strings/str_split.h"
#include "fmt/format.h"

namespace octavo {
namespace {

constexpr Fact kExitCodes[] = {
    {"0", "done"},
    {"1", "failed while running: I/O error, full disk, out of memory, a loss that is not finite"},
    {"2", "wrong usage or configuration"},
    {"3", "bad input data"},
    {"4", "corrupt or incompatible files"},
    {"5", "the run is in use by another process"},
    {"6", "another process of the job is lost: it hangs, or cannot be reached"},
    {"129, 130, 138, 143", "interrupted by SIGHUP, SIGINT, SIGUSR1 (of a job), SIGTERM, after a commit"}};

constexpr Fact kEnvironment[] = {
    {"COLUMNS", "if set, the width of help texts instead of that of the terminal"},
    {"NO_COLOR", "if set, messages on a terminal have no colour"},
    {"OCTAVO_TOKEN", "the --token of octavo serve, which is hidden from other users here"},
    {"OCTAVO_LOST_AFTER", "seconds of silence after which another process of a job is lost; 60"},
    {"OCTAVO_PLUGINS", "a folder with the plugins for MPI, before those of the installation"},
    {"OCTAVO_GEMM", "portable: multiply matrices without libxsmm; the bits of a training may differ"},
    {"OCTAVO_BF16", "for tests: the kernel of bf16 products, amx, fma, scalar or amx-model; the same bits"},
    {"OCTAVO_FAILPOINT", "for tests: makes an operation fail, or ends the program, at a named place"}};

// By verb; "" stands for the program.
constexpr Fact kExamples[] = {
    {"", "octavo import edges.tsv.gz --graph graph --split 0.9,0.05,0.05"},
    {"", "octavo train --graph graph --run run"},
    {"", "octavo evaluate --run run --split test"},
    {"", "octavo query --run run neighbors bash -k 10"},
    {"", "octavo export --run run --output vectors.npy"},
    {"bench", "octavo bench machine"},
    {"completion", "source <(octavo completion bash)"},
    {"distribute", "mpirun --host one,two -n 2 octavo distribute graph"},
    {"evaluate", "octavo evaluate --run run --split test --json"},
    {"evaluate", "octavo evaluate --run run --labels labels.tsv --repeats 10"},
    {"evaluate", "octavo evaluate --run run --link-prediction"},
    {"export", "octavo export --run run --output vectors.txt --format word2vec"},
    {"generate", "octavo generate --kind rmat --nodes 10000000 --edges 100000000 --output rmat.tsv.zst"},
    {"grow", "octavo grow --run run --add new.tsv --graph new-graph --output new-run --freeze old --epochs 2"},
    {"help", "octavo help train"},
    {"help", "octavo help query neighbors"},
    {"import", "octavo import train.txt --valid valid.txt --test test.txt --graph graph"},
    {"import", "zcat edges.gz | octavo import - --graph graph --columns head,tail --split 0.9,0.05,0.05"},
    {"index", "octavo index --run run --output nodes.hnsw"},
    {"inspect", "octavo inspect run --json"},
    {"map", "octavo map run --output map.npy"},
    {"map", "octavo map run --kind pca --output plane.npy"},
    {"plan", "octavo plan --graph graph --dim 128 --memory 512MiB --what-if"},
    {"presets", "octavo presets"},
    {"presets", "octavo presets fb15k-237-complex"},
    {"query", "octavo query --run run neighbors bash -k 10"},
    {"query", "octavo query --run run predict nginx depends '?'"},
    {"query", "octavo query --run run --json batch questions.txt"},
    {"report", "octavo report --run run --output report.html"},
    {"report", "octavo report --run run --map map.npy --output report.html"},
    {"resume", "octavo resume --run run --epochs 30"},
    {"serve", "octavo serve run --open"},
    {"serve", "octavo serve run other-run --memory 2GiB --port 8080"},
    {"serve", "octavo serve run --index nodes.hnsw --map map.npy"},
    {"train", "octavo train --graph graph --run run --time 20m --memory 512MiB"},
    {"train", "octavo train --graph graph --run run --config fb15k-237-complex --dim 256"},
    {"train", "octavo train --config fb15k-237-complex --dim 256 --print-config >smaller.toml"},
    {"tune", "octavo tune --graph graph --output search --time 30m"},
    {"tune", "octavo tune --graph graph --space umls-complex --output search --dry-run"},
    {"tune", "octavo tune --graph graph --space space.toml --output search --budget 2h"},
    {"verify", "octavo verify run --deep"},
    {"walk", "octavo walk --graph graph --output walks --kind node2vec --p 0.5 --q 2"},
    {"walk", "octavo walk --graph graph --output walks --config blogcatalog --seed 2"}};

constexpr Fact kFirstOptions[] = {
    {"plan",
     "--graph --preset --config --time --model --dim --epochs --negatives --storage --memory --what-if --json --help "
     "--help-all"},
    {"train", "--graph --run --preset --config --time --model --dim --epochs --memory --overwrite --help --help-all"}};

constexpr Fact kPages[] = {{"bench", "docs/performance.md"},
                           {"completion", "README.md"},
                           {"distribute", "docs/machines.md"},
                           {"evaluate", "docs/evaluating.md"},
                           {"export", "docs/exporting.md"},
                           {"generate", "docs/importing.md"},
                           {"grow", "docs/training.md"},
                           {"help", "README.md"},
                           {"presets", "docs/training.md"},
                           {"import", "docs/importing.md"},
                           {"index", "docs/querying.md"},
                           {"inspect", "docs/files.md"},
                           {"map", "docs/maps.md"},
                           {"plan", "docs/partitions.md"},
                           {"query", "docs/querying.md"},
                           {"report", "docs/exporting.md"},
                           {"resume", "docs/training.md"},
                           {"serve", "docs/serving.md"},
                           {"train", "docs/training.md"},
                           {"tune", "docs/tuning.md"},
                           {"verify", "docs/files.md"},
                           {"walk", "docs/walks.md"}};

std::string ExampleLines(std::string_view verb) {
  std::string text = "Examples:\n";
  for (const std::string_view example : ExamplesOf(verb)) text += fmt::format("  {}\n", example);
  return text + "\n";
}

std::string Table(std::string_view title, std::span<const Fact> facts) {
  std::string text = fmt::format("{}:\n", title);
  for (const Fact& fact : facts) text += fmt::format("  {:<25} {}\n", fact.name, fact.text);
  return text;
}

}  // namespace

std::span<const Fact> ExitCodes() { return kExitCodes; }
std::span<const Fact> EnvironmentVariables() { return kEnvironment; }

std::vector<std::string_view> ExamplesOf(std::string_view verb) {
  std::vector<std::string_view> examples;
  for (const Fact& example : kExamples) {
    if (example.name == verb) examples.push_back(example.text);
  }
  return examples;
}

std::vector<std::string_view> FirstOptionsOf(std::string_view verb) {
  const Fact* const options = std::ranges::find(kFirstOptions, verb, &Fact::name);
  if (options == std::end(kFirstOptions)) return {};
  std::vector<std::string_view> names;
  for (const absl::string_view name :
       absl::StrSplit(absl::string_view(options->text.data(), options->text.size()), ' ')) {
    names.emplace_back(name.data(), name.size());
  }
  return names;
}

std::string_view PageOf(std::string_view verb) {
  const Fact* const page = std::ranges::find(kPages, verb, &Fact::name);
  return page == std::end(kPages) ? std::string_view("README.md") : page->text;
}

std::string HelpFooter() {
  return ExampleLines("") + Table("Exit codes", kExitCodes) + "\n" + Table("Environment", kEnvironment) +
         "\nManual pages: octavo(1), octavo-train(1) and so on. Shell completion: octavo completion --help.";
}

std::string HelpFooterOf(std::string_view verb) {
  return ExampleLines(verb) + fmt::format("More: octavo-{}(1), {}", verb, PageOf(verb));
}

}  // namespace octavo
