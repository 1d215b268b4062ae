#include "serve/openapi.h"

#include <string>

#include "nlohmann/json.hpp"

namespace octavo {
namespace {

using Json = nlohmann::ordered_json;

Json SchemaOf(const ParameterSpec& spec) {
  switch (spec.kind) {
    case ParameterSpec::Kind::kText:
      if (spec.repeated) return {{"type", "array"}, {"items", {{"type", "string"}}}};
      return {{"type", "string"}, {"minLength", 1}};
    case ParameterSpec::Kind::kWhole:
      return {{"type", "integer"}, {"minimum", spec.least}, {"maximum", spec.most}, {"default", spec.fallback}};
    case ParameterSpec::Kind::kFlag:
      return {{"type", "boolean"}, {"default", false}};
    case ParameterSpec::Kind::kChoice: {
      Json schema = {{"type", "string"}, {"enum", Json::array()}, {"default", spec.choices[0]}};
      for (const std::string_view choice : spec.choices) schema["enum"].push_back(choice);
      return schema;
    }
  }
  return Json::object();
}

Json Operation(const Route& route) {
  Json operation = {{"summary", route.summary}, {"parameters", Json::array()}};
  for (const ParameterSpec& spec : route.parameters) {
    operation["parameters"].push_back({{"name", spec.name},
                                       {"in", "query"},
                                       {"required", spec.required},
                                       {"description", spec.help},
                                       {"schema", SchemaOf(spec)}});
  }
  if (!route.body.empty()) {
    operation["requestBody"] = {{"required", true},
                                {"content", {{"application/json", {{"schema", Json::parse(route.body)}}}}}};
  }
  const bool json = route.produces == "application/json";
  const Json schema = json ? Json{{"type", "object"}} : Json{{"type", "string"}};
  operation["responses"] = {
      {"200", {{"description", "The answer"}, {"content", {{route.produces, {{"schema", schema}}}}}}},
      {"default",
       {{"description", "An error"},
        {"content", {{"application/json", {{"schema", {{"$ref", "#/components/schemas/Error"}}}}}}}}}};
  return operation;
}

}  // namespace

Json DescribeApi(std::span<const Route> routes, std::string_view version, bool with_token) {
  Json description = {
      {"openapi", "3.0.3"},
      {"info",
       {{"title", "octavo serve"},
        {"version", version},
        {"description", "Questions to trained graph embeddings. Answers are those of octavo query --json."}}},
      {"paths", Json::object()}};
  for (const Route& route : routes) {
    std::string method(route.method);
    for (char& c : method) c = static_cast<char>(c + ('a' - 'A'));
    description["paths"][std::string(route.path)][method] = Operation(route);
  }
  description["components"]["schemas"]["Error"] = {
      {"type", "object"},
      {"required", {"error"}},
      {"properties",
       {{"error",
         {{"type", "object"},
          {"required", {"code", "message"}},
          {"properties", {{"code", {{"type", "integer"}}}, {"message", {{"type", "string"}}}}}}}}}};
  if (with_token) {
    description["components"]["securitySchemes"]["token"] = {{"type", "http"}, {"scheme", "bearer"}};
    description["security"] = Json::array({{{"token", Json::array()}}});
  }
  return description;
}

}  // namespace octavo
