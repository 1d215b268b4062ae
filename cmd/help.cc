#include "cmd/help.h"

#include <CLI/CLI.hpp>  // not App.hpp: the one place that compiles CLI11's formatter and reader of configuration files
#include <string>

#include "cmd/command_facts.h"
#include "cmd/program_facts.h"

namespace octavo {
namespace {

class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_subcommands(const CLI::App* app, CLI::AppFormatMode mode) const override {
    std::string text = CLI::Formatter::make_subcommands(app, mode);
    for (const InheritedOptions& inherited : InheritedOptionsOf(*app)) {
      if (!inherited.options.empty()) text += make_group(inherited.title, /*is_positional=*/false, inherited.options);
    }
    return text;
  }

  std::string make_footer(const CLI::App* app) const override {
    const std::string text = CLI::Formatter::make_footer(app);
    const bool is_verb = app->get_parent() != nullptr && app->get_parent()->get_parent() == nullptr;
    return is_verb ? text + (text.empty() ? "" : "\n") + HelpFooterOf(app->get_name()) + "\n" : text;
  }
};

}  // namespace

std::shared_ptr<CLI::FormatterBase> MakeHelpFormatter() { return std::make_shared<HelpFormatter>(); }

}  // namespace octavo
