#include "cmd/help.h"

#include <CLI/CLI.hpp>
#include <string>

#include "cmd/command_facts.h"

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
};

}  // namespace

std::shared_ptr<CLI::FormatterBase> MakeHelpFormatter() { return std::make_shared<HelpFormatter>(); }

}  // namespace octavo
