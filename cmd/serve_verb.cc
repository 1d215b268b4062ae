// octavo serve: pages and an API for exploring runs, over HTTP.

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/byte_size.h"
#include "base/status.h"
#include "cmd/flags.h"
#include "cmd/interrupt.h"
#include "cmd/limits.h"
#include "cmd/opened_run.h"
#include "cmd/program.h"
#include "cmd/version_facts.h"
#include "fmt/format.h"
#include "serve/http_server.h"
#include "serve/map_cache.h"
#include "serve/served_run.h"
#include "serve/service.h"
#include "serve/target.h"

extern char** environ;

namespace octavo {
namespace {

constexpr std::size_t kMostWaiting = 256;  // requests in a queue
constexpr std::size_t kMostRuns = 16;
constexpr std::size_t kLeastToken = 16;  // characters

struct ServeFlags {
  std::vector<std::string> runs;
  std::string graph;
  std::string index;
  std::string map;
  std::string labels;
  std::string host = "127.0.0.1";
  std::uint64_t port = 8321;
  std::string token;
  std::vector<std::string> origins;
  bool open = false;
};

absl::Status CheckFlags(const ServeFlags& flags) {
  if (flags.runs.size() > kMostRuns) {
    return UsageError(fmt::format("found {} runs; expected at most {}", flags.runs.size(), kMostRuns));
  }
  for (const auto& [name, value] :
       {std::pair("--index", &flags.index), std::pair("--map", &flags.map), std::pair("--labels", &flags.labels)}) {
    if (flags.runs.size() > 1 && !value->empty()) {
      return UsageError(
          fmt::format("{} {}: found {} runs; expected one, which it belongs to", name, *value, flags.runs.size()));
    }
  }
  if (!flags.token.empty() && flags.token.size() < kLeastToken) {
    return UsageError(
        fmt::format("--token: found {} characters; expected at least {}, such as openssl rand -hex 16 "
                    "prints",
                    flags.token.size(), kLeastToken));
  }
  if (!std::ranges::all_of(flags.token, [](char c) { return c > ' ' && c < '\x7f'; })) {
    return UsageError("--token: found a character that is not printable ASCII; expected letters and digits");
  }
  for (const std::string& origin : flags.origins) {
    if (!IsOrigin(origin)) {
      return UsageError(fmt::format(
          "--allow-origin {}: expected a site as https://example.org, in lower case and without a path", origin));
    }
  }
  if (!IsLoopback(flags.host) && flags.token.empty()) {
    return UsageError(
        fmt::format("--host {}: other machines can reach it; expected --token as well, without which "
                    "nobody gets an answer",
                    flags.host));
  }
  return absl::OkStatus();
}

// The names of the runs in addresses: the last parts of their paths, numbered if they are equal.
std::vector<std::string> NamesOf(const std::vector<std::string>& folders) {
  std::vector<std::string> names;
  for (const std::string& folder : folders) {
    std::error_code error;
    std::filesystem::path path = std::filesystem::absolute(folder, error).lexically_normal();
    if (path.filename().empty()) path = path.parent_path();
    std::string name = path.filename().empty() ? "run" : path.filename().string();
    for (int number = 2; std::ranges::find(names, name) != names.end(); ++number) {
      name = fmt::format("{}-{}", path.filename().string(), number);
    }
    names.push_back(std::move(name));
  }
  return names;
}

absl::StatusOr<std::vector<std::unique_ptr<ServedRun>>> OpenRuns(Program& program, const ServeFlags& flags) {
  const std::vector<std::string> names = NamesOf(flags.runs);
  std::vector<std::unique_ptr<ServedRun>> runs;
  for (std::size_t i = 0; i < flags.runs.size(); ++i) {
    if (flags.graph.empty()) RETURN_IF_ERROR(CheckGraphPlace(flags.runs[i], "--graph"));
    ServedRunOptions options = {.name = names[i],
                                .folder = flags.runs[i],
                                .graph = flags.graph,
                                .index = flags.index,
                                .map = flags.map,
                                .classes = flags.labels,
                                .memory_bytes = MemoryLimit(program) / flags.runs.size(),
                                .other_bytes = HttpBytes({}) / flags.runs.size(),
                                .threads = ThreadCount(program)};
    options.warn = [&program](std::string_view message) { program.reporter.Warning(message); };
    ASSIGN_OR_RETURN(std::unique_ptr<ServedRun> run, ServedRun::Open(std::move(options)));
    RETURN_IF_ERROR(CheckMapClasses(*run));
    runs.push_back(std::move(run));
  }
  return runs;
}

// Starts the user's browser and does not wait for it.
void OpenBrowser(Program& program, const std::string& address) {
  std::string command = "xdg-open";
  std::string argument = address;
  std::vector<char*> words = {command.data(), argument.data(), nullptr};
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    ::posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_WRONLY, 0);
  }
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, command.c_str(), &actions, nullptr, words.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    program.reporter.Warning(fmt::format("--open: found no xdg-open; open {} in a browser", address));
    return;
  }
  std::thread([child] { ::waitpid(child, nullptr, 0); }).detach();
}

// The words of a command can be seen by every user of the machine, the environment only by its own.
ServeFlags WithToken(ServeFlags flags) {
  const char* const token = std::getenv("OCTAVO_TOKEN");
  if (flags.token.empty() && token != nullptr) flags.token = token;
  return flags;
}

absl::Status RunServe(Program& program, const ServeFlags& given) {
  const ServeFlags flags = WithToken(given);
  RETURN_IF_ERROR(CheckFlags(flags));
  CatchInterrupts();
  ASSIGN_OR_RETURN(const std::unique_ptr<HttpServer> server,
                   HttpServer::Listen(flags.host, static_cast<std::uint16_t>(flags.port), {}));
  ASSIGN_OR_RETURN(std::vector<std::unique_ptr<ServedRun>> runs, OpenRuns(program, flags));
  std::atomic<bool> ending = false;
  std::unique_ptr<RequestQueues> queues;
  ServiceOptions options = {.version = std::string(kVersion),
                            .guard = {.host = flags.host, .token = flags.token, .origins = flags.origins},
                            .threads = ThreadCount(program)};
  options.start = [&queues](std::function<void()> task) { return queues->Submit(RequestQueue::kMap, std::move(task)); };
  options.ending = [&ending] { return ending.load(std::memory_order_relaxed) || Interrupted(); };
  options.warn = [&program](std::string_view message) { program.reporter.Warning(message); };
  Service service(std::move(options), std::move(runs));
  queues = std::make_unique<RequestQueues>(ThreadCount(program), kMostWaiting);
  const std::string address = fmt::format("http://{}/", server->address());
  fmt::print("{}\n", address);
  std::fflush(stdout);
  program.reporter.Info("serving; Ctrl-C ends it");
  if (flags.open) {
    OpenBrowser(program,
                flags.token.empty() ? address : fmt::format("{}?token={}", address, PercentEncode(flags.token)));
  }
  RETURN_IF_ERROR(server->Run(service, *queues, InterruptSignal(), ending));
  queues.reset();
  if (Interrupted()) {
    program.reporter.Info(fmt::format("{}: ended", InterruptName()));
    program.exit_code = InterruptExitCode();
  }
  return absl::OkStatus();
}

}  // namespace

void AddServeVerb(CLI::App& app, Program& program) {
  CLI::App* verb = app.add_subcommand("serve", "Explore runs in a browser, and answer programs over HTTP");
  const auto flags = std::make_shared<ServeFlags>();
  RefuseEmpty(verb->add_option("RUN", flags->runs, "Run folders that octavo train made; the first one is the default"))
      ->required()
      ->type_name("DIR");
  RefuseEmpty(verb->add_option("--graph", flags->graph, "Graph folder, if it is no longer where the training found it"))
      ->type_name("DIR");
  RefuseEmpty(verb->add_option("--index", flags->index, "Search neighbours in this index made by octavo index"))
      ->type_name("FILE");
  RefuseEmpty(
      verb->add_option("--map", flags->map,
                       "Map made by octavo map, or float32 [nodes, 2] in another .npy file; by default map.npy in "
                       "the run's folder or beside it, or else principal components"))
      ->type_name("FILE");
  RefuseEmpty(verb->add_option("--labels", flags->labels,
                               "Colour the map by classes: a file of lines NODE<TAB>CLASS [CLASS ...]"))
      ->type_name("FILE");
  AddWholeNumber(*verb, "--port", flags->port, 0, 65535, "Port to listen at; 0 takes a free one, which is printed");
  RefuseEmpty(
      verb->add_option("--host", flags->host, "Address to listen at; one that other machines can reach needs --token"))
      ->type_name("NAME")
      ->capture_default_str();
  RefuseEmpty(verb->add_option("--token", flags->token,
                               "Secret that requests must have, as Authorization: Bearer, or ?token= after the address "
                               "of a page; by default that of the environment variable OCTAVO_TOKEN"))
      ->type_name("TEXT");
  RefuseEmpty(verb->add_option("--allow-origin", flags->origins,
                               "Site whose pages may use the API from a browser (CORS), such as https://example.org; "
                               "may be repeated"))
      ->type_name("URL")
      ->expected(1)
      ->take_all();
  verb->add_flag("--open", flags->open, "Open the pages in a browser");
  verb->footer(
      "It prints the address and answers until it is interrupted. It reads the last commit, also during a training,\n"
      "and goes on to the next one. docs/serving.md describes the pages and the API.");
  verb->final_callback([&program, flags] { program.run = [flags](Program& p) { return RunServe(p, *flags); }; });
}

}  // namespace octavo
