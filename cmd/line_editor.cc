#include "cmd/line_editor.h"

#include <histedit.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <cstdio>
#include <new>
#include <utility>

#include "cmd/terminal.h"

namespace octavo {
namespace {

constexpr int kHistoryLines = 1000;

// The number of UTF-8 characters, as libedit counts them.
std::size_t CharactersOf(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80; }));
}

// Prints the choices in as many columns as fit the terminal, row by row.
void PrintChoices(const TabResult& result) {
  const std::size_t columns = TerminalColumns(STDOUT_FILENO);
  std::size_t width = 0;
  for (const std::string& choice : result.choices) width = std::max(width, CharactersOf(choice) + 2);
  const std::size_t in_row = std::max<std::size_t>(1, columns / std::max<std::size_t>(1, width));
  std::string text;
  for (std::size_t i = 0; i < result.choices.size(); ++i) {
    text += (i % in_row == 0 ? "\n" : "") + result.choices[i];
    if (i % in_row + 1 < in_row && i + 1 < result.choices.size())
      text.append(width - CharactersOf(result.choices[i]), ' ');
  }
  if (!result.note.empty()) text += "\n" + result.note;
  text += "\n";
  std::fwrite(text.data(), 1, text.size(), stdout);
}

}  // namespace

struct LineEditor::State {
  std::string prompt;
  Completer completer;
  bool cleared = false;
  ::EditLine* edit = nullptr;
  ::History* history = nullptr;

  static State& Of(::EditLine* edit) {
    void* state = nullptr;
    ::el_get(edit, EL_CLIENTDATA, &state);
    return *static_cast<State*>(state);
  }

  static char* Prompt(::EditLine* edit) { return Of(edit).prompt.data(); }

  static unsigned char Clear(::EditLine* edit, int) {
    Of(edit).cleared = true;
    const ::LineInfo* line = ::el_line(edit);
    ::el_cursor(edit, static_cast<int>(line->lastchar - line->cursor));  // at most to the end of the line
    ::el_set(edit, EL_REFRESH);
    std::fputs("^C\n", stdout);
    return CC_NEWLINE;
  }

  static unsigned char Stop(::EditLine* edit, int) {
    ::el_set(edit, EL_PREP_TERM, 0);
    ::raise(SIGTSTP);
    ::el_set(edit, EL_PREP_TERM, 1);
    return CC_REDISPLAY;
  }

  // Called from C: no exception may leave it.
  static unsigned char Complete(::EditLine* edit, int) noexcept {
    try {
      const ::LineInfo* line = ::el_line(edit);
      const std::string before(line->buffer, line->cursor);
      const TabResult result = Of(edit).completer(before);
      const std::string typed = before.substr(result.begin);
      if (result.text == typed && result.choices.empty()) return CC_ERROR;  // beeps
      if (result.text != typed) {
        ::el_deletestr(edit, static_cast<int>(CharactersOf(typed)));
        if (::el_insertstr(edit, result.text.c_str()) != 0) ::el_insertstr(edit, typed.c_str());
      }
      if (result.choices.empty()) return CC_REFRESH;
      PrintChoices(result);
      return CC_REDISPLAY;
    } catch (const std::bad_alloc&) {
      return CC_ERROR;
    }
  }
};

LineEditor::LineEditor(std::string prompt, Completer completer) : state_(std::make_unique<State>()) {
  // Names are UTF-8 in any locale; falls back to the user's locale if the C library has no C.UTF-8.
  if (std::setlocale(LC_CTYPE, "C.UTF-8") == nullptr) std::setlocale(LC_CTYPE, "");
  state_->prompt = std::move(prompt);
  state_->completer = std::move(completer);
  state_->edit = ::el_init("octavo", stdin, stdout, stderr);
  state_->history = ::history_init();
  if (state_->edit == nullptr || state_->history == nullptr) throw std::bad_alloc();
  ::EditLine* const edit = state_->edit;
  ::HistEvent event = {};
  ::history(state_->history, &event, H_SETSIZE, kHistoryLines);
  ::history(state_->history, &event, H_SETUNIQUE, 1);
  ::el_set(edit, EL_CLIENTDATA, state_.get());
  ::el_set(edit, EL_PROMPT, &State::Prompt);
  ::el_set(edit, EL_HIST, &::history, state_->history);
  ::el_set(edit, EL_EDITOR, "emacs");
  ::el_set(edit, EL_SIGNAL, 1);
  ::el_source(edit, nullptr);  // ~/.editrc
  // Ctrl-C and Ctrl-Z arrive as characters: as signals they could not be distinguished from those during a search.
  ::el_set(edit, EL_SETTY, "-d", "-isig", nullptr);
  ::el_set(edit, EL_ADDFN, "octavo-clear", "Clear the line", &State::Clear);
  ::el_set(edit, EL_ADDFN, "octavo-stop", "Stop until the shell goes on", &State::Stop);
  ::el_set(edit, EL_ADDFN, "octavo-complete", "Complete the word", &State::Complete);
  ::el_set(edit, EL_BIND, "^C", "octavo-clear", nullptr);
  ::el_set(edit, EL_BIND, "^Z", "octavo-stop", nullptr);
  ::el_set(edit, EL_BIND, "^I", "octavo-complete", nullptr);
  ::el_set(edit, EL_BIND, "^R", "em-inc-search-prev", nullptr);
}

LineEditor::~LineEditor() {
  if (state_->history != nullptr) ::history_end(state_->history);
  if (state_->edit != nullptr) ::el_end(state_->edit);
}

LineEditor::Input LineEditor::Read(std::string& line) {
  state_->cleared = false;
  int bytes = 0;
  ::el_set(state_->edit, EL_PREP_TERM, 1);  // before the prompt, so that early typing is echoed only once
  const char* const text = ::el_gets(state_->edit, &bytes);
  if (state_->cleared) return Input::kCleared;
  if (text == nullptr || bytes <= 0) return Input::kEnd;
  line = text;
  while (line.ends_with('\n') || line.ends_with('\r')) line.pop_back();
  ::HistEvent event = {};
  if (line.find_first_not_of(" \t") != std::string::npos) ::history(state_->history, &event, H_ENTER, line.c_str());
  return Input::kLine;
}

}  // namespace octavo
