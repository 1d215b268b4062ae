// The table of the API.

#include "nlohmann/json.hpp"
#include "query/opened_index.h"
#include "serve/openapi.h"
#include "serve/service.h"

namespace octavo {
namespace {

using Kind = ParameterSpec::Kind;

ParameterSpec Text(std::string_view name, std::string_view help) {
  return {.name = name, .help = help, .required = true};
}
ParameterSpec OptionalText(std::string_view name, std::string_view help) { return {.name = name, .help = help}; }
ParameterSpec Whole(std::string_view name, std::string_view help, std::uint64_t least, std::uint64_t most,
                    std::uint64_t fallback) {
  return {.name = name, .kind = Kind::kWhole, .help = help, .least = least, .most = most, .fallback = fallback};
}
ParameterSpec Flag(std::string_view name, std::string_view help) {
  return {.name = name, .kind = Kind::kFlag, .help = help};
}
ParameterSpec Choice(std::string_view name, std::string_view help, std::vector<std::string_view> choices) {
  return {.name = name, .kind = Kind::kChoice, .help = help, .choices = std::move(choices)};
}

ParameterSpec Run() { return OptionalText("run", "A run by its name; the first one if absent"); }
ParameterSpec Count() { return Whole("k", "Number of answers", 1, kMostServedAnswers, 10); }

constexpr std::string_view kBatchBody = R"({
  "type": "object", "required": ["questions"], "additionalProperties": false,
  "properties": {
    "questions": {"type": "array", "minItems": 1, "maxItems": 1000, "items": {"oneOf": [
      {"type": "object", "required": ["neighbors"], "properties": {"neighbors": {"type": "string"}}},
      {"type": "object", "required": ["predict"], "properties": {"predict": {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 3}}},
      {"type": "object", "required": ["analogy"], "properties": {"analogy": {"type": "array", "items": {"type": "string"}, "minItems": 3, "maxItems": 3}}}]}},
    "k": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 10},
    "known": {"type": "string", "enum": ["hide", "mark"], "default": "hide"},
    "typed": {"type": "boolean", "default": false},
    "exact": {"type": "boolean", "default": false}}})";
constexpr std::string_view kNamesBody =
    R"({"type": "object", "required": ["names"], "additionalProperties": false, "properties": {"names": {"type": "array", "items": {"type": "string"}}}})";
constexpr std::string_view kPointsBody =
    R"({"type": "object", "required": ["points"], "additionalProperties": false, "properties": {"points": {"type": "array", "maxItems": 1000, "items": {"type": "integer", "minimum": 0}}}})";

}  // namespace

std::function<Service::Response(const Call&)> Service::By(Response (Service::*method)(const Call&)) {
  return [this, method](const Call& call) { return (this->*method)(call); };
}

std::vector<Route> Service::MakeRoutes() {
  std::vector<Route> routes;
  AddNameRoutes(routes);
  AddQuestionRoutes(routes);
  AddTrainingRoutes(routes);
  AddMapRoutes(routes);
  routes.push_back({"GET", "/api/v1/openapi.json", "This description", {}, RequestQueue::kQuick, [this](const Call&) {
                      return Response(
                          JsonResponse(200, DescribeApi(routes_, options_.version, !options_.guard.token.empty())));
                    }});
  return routes;
}

void Service::AddNameRoutes(std::vector<Route>& routes) {
  routes.push_back({"GET", "/api/v1/runs", "The served runs", {}, RequestQueue::kQuick, By(&Service::Runs)});
  routes.push_back({"GET",
                    "/api/v1/search",
                    "Nodes and relations with a name or label: exactly, as beginning, and similar spellings",
                    {Text("text", "What to look for"), Whole("count", "Most completions", 1, 100, 20), Run()},
                    RequestQueue::kNames,
                    By(&Service::Search)});
  routes.push_back({"GET",
                    "/api/v1/complete",
                    "Names and labels that begin with a text",
                    {Text("text", "The beginning"), Choice("kind", "What to complete", {"any", "node", "relation"}),
                     Whole("count", "Most completions", 1, 100, 20), Run()},
                    RequestQueue::kNames,
                    By(&Service::Complete)});
  routes.push_back({"GET",
                    "/api/v1/relations",
                    "The relations, those with the most training edges first",
                    {Run()},
                    RequestQueue::kQuick,
                    By(&Service::Relations)});
  routes.push_back({"GET",
                    "/api/v1/node",
                    "A node: its label, degree and known edges by relation",
                    {Text("name", "Name or label of the node"),
                     Whole("edges", "Most edges listed for each relation and direction", 0, 1000, 20), Run()},
                    RequestQueue::kPass,
                    By(&Service::Node)});
}

void Service::AddQuestionRoutes(std::vector<Route>& routes) {
  const ParameterSpec npy = Choice("format", "JSON, or the bytes of an .npy file of float32", {"json", "npy"});
  routes.push_back(
      {"GET",
       "/api/v1/neighbors",
       "The nodes whose vectors are most similar to a node's",
       {Text("name", "Name or label of the node"), Count(), Choice("metric", "Similarity", {"cosine", "dot"}),
        Flag("exact", "Compare all vectors even if there is an index"),
        Whole("ef", "Candidates kept in an index search", 1, kMostServedEf, kDefaultEf), Run()},
       RequestQueue::kPass,
       By(&Service::Neighbors),
       [this](const Parameters& parameters, const ServeRequest&) {
         return QueueOf({.words = {parameters.Text("name")},
                         .metric = parameters.Text("metric"),
                         .exact = parameters.Flag("exact")},
                        parameters);
       }});
  routes.push_back(
      {"GET",
       "/api/v1/predict",
       "The likeliest ends of an edge: without tail (head, relation, ?), without head (?, relation, tail)",
       {OptionalText("head", "Name or label; ? or absent to ask for it"), Text("relation", "Name or label"),
        OptionalText("tail", "Name or label; ? or absent to ask for it"), Count(),
        Choice("known", "Answers that are edges of the graph", {"hide", "mark"}),
        Flag("typed", "Put answers last that are of another type than those of the relation"), Run()},
       RequestQueue::kPass,
       By(&Service::Predict)});
  routes.push_back(
      {"GET",
       "/api/v1/analogy",
       "a is to b as c is to ?: the nodes nearest to b - a + c, of vectors of length 1",
       {Text("a", "Name or label"), Text("b", "Name or label"), Text("c", "Name or label"), Count(), Run()},
       RequestQueue::kPass,
       By(&Service::Analogy)});
  routes.push_back({.method = "POST",
                    .path = "/api/v1/batch",
                    .summary = "Answers to many questions, in their order",
                    .parameters = {Run()},
                    .queue = RequestQueue::kPass,
                    .answer = By(&Service::Batch),
                    .choose_queue = [this](const Parameters& parameters,
                                           const ServeRequest& request) { return BatchQueue(parameters, request); },
                    .body = kBatchBody});
  ParameterSpec names = Text("name", "Name or label; several times for several nodes");
  names.repeated = true;
  routes.push_back(
      {"GET", "/api/v1/vectors", "Vectors by name", {names, npy, Run()}, RequestQueue::kNames, By(&Service::Vectors)});
  routes.push_back({.method = "POST",
                    .path = "/api/v1/vectors",
                    .summary = "Vectors of many names",
                    .parameters = {npy, Run()},
                    .queue = RequestQueue::kNames,
                    .answer = By(&Service::Vectors),
                    .body = kNamesBody});
}

void Service::AddTrainingRoutes(std::vector<Route>& routes) {
  routes.push_back({"GET",
                    "/api/v1/compare",
                    "Neighbours of a node in two runs, and how their ranks differ",
                    {Text("other", "The second run"), Text("name", "Name or label"), Count(), Run()},
                    RequestQueue::kPass,
                    By(&Service::Compare)});
  routes.push_back({.method = "GET",
                    .path = "/api/v1/compare/figures",
                    .summary = "Curves of two runs as HTML with SVG",
                    .parameters = {Text("other", "The second run"), Run()},
                    .answer = By(&Service::CompareFigures),
                    .produces = "text/html"});
  routes.push_back({"GET",
                    "/api/v1/training",
                    "A run's progress, options, epochs and validations",
                    {Run()},
                    RequestQueue::kQuick,
                    By(&Service::Training)});
  routes.push_back({.method = "GET",
                    .path = "/api/v1/training/figures",
                    .summary = "The figures of octavo report about the training, as HTML with SVG",
                    .parameters = {Run()},
                    .answer = By(&Service::TrainingFigures),
                    .produces = "text/html"});
  routes.push_back({.method = "GET",
                    .path = "/api/v1/training/events",
                    .summary = "Epochs, validations and commits as they happen, as server-sent events",
                    .parameters = {OptionalText("after", "The place of an answer of /api/v1/training"), Run()},
                    .answer = By(&Service::Events),
                    .produces = "text/event-stream",
                    .streams = true});
}

void Service::AddMapRoutes(std::vector<Route>& routes) {
  routes.push_back({"GET",
                    "/api/v1/map",
                    "What the map shows; 202 while it is made",
                    {Flag("refresh", "Make it again if there is a newer commit"), Run()},
                    RequestQueue::kQuick,
                    By(&Service::Map)});
  routes.push_back(
      {.method = "GET",
       .path = "/api/v1/map/points",
       .summary = "The points: little-endian records of x f32, y f32, range of the degree u8, type u8, "
                  "cluster u8, class u8",
       .parameters = {Whole("count", "Points, which are in random order; 0: all", 0, UINT32_MAX, 0), Run()},
       .answer = By(&Service::MapBytes),
       .produces = "application/octet-stream"});
  routes.push_back({.method = "POST",
                    .path = "/api/v1/map/nodes",
                    .summary = "The nodes of points",
                    .parameters = {Run()},
                    .answer = By(&Service::MapNodes),
                    .body = kPointsBody});
  routes.push_back({"GET",
                    "/api/v1/map/place",
                    "Where a node is on the map",
                    {Text("name", "Name or label"), Run()},
                    RequestQueue::kNames,
                    By(&Service::MapPlace)});
}

}  // namespace octavo
