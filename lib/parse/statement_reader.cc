#include "parse/statement_reader.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <new>

#include "base/escape.h"
#include "fmt/format.h"
#include "serd/serd.h"

namespace octavo {
namespace {

constexpr std::string_view kNoIri = "a character that an IRI cannot contain";
constexpr std::string_view kStringType = "http://www.w3.org/2001/XMLSchema#string";

std::string_view TextOf(const SerdNode* node) {
  if (node == nullptr || node->buf == nullptr) return {};
  return {reinterpret_cast<const char*>(node->buf), node->n_bytes};
}

// Whether UTF-8 text contains a surrogate, U+D800 to U+DFFF; serd's own check accepts them.
bool HasSurrogate(std::string_view text) {
  for (std::size_t at = text.find('\xED'); at != std::string_view::npos; at = text.find('\xED', at + 1)) {
    if (at + 1 < text.size() && static_cast<unsigned char>(text[at + 1]) >= 0xA0) return true;
  }
  return false;
}

// Whether an IRI contains a forbidden character (RFC 3987); in escapes serd accepts them.
bool IsNoIri(std::string_view iri) {
  return std::ranges::any_of(iri, [](char c) {
    return static_cast<unsigned char>(c) <= ' ' || std::string_view("<>\"{}|^`\\").find(c) != std::string_view::npos;
  });
}

// Appends the text of a literal with the escapes of the canonical form.
void AppendEscaped(std::string& out, std::string_view value) {
  constexpr std::string_view kEscaped = "\b\t\n\f\r\"\\";
  constexpr std::string_view kLetters = "btnfr\"\\";
  for (const char c : value) {
    if (const std::size_t at = kEscaped.find(c); at != std::string_view::npos) {
      out += '\\';
      out += kLetters[at];
    } else if (static_cast<unsigned char>(c) < ' ' || c == '\x7F') {
      out += fmt::format("\\u{:04X}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
}

}  // namespace

// serd's callbacks. serd is C, so no exception may pass through it.
class StatementReader::Sinks {
 public:
  static SerdStatus Statement(void* handle, SerdStatementFlags, const SerdNode* graph, const SerdNode* subject,
                              const SerdNode* predicate, const SerdNode* object, const SerdNode* datatype,
                              const SerdNode* language) noexcept {
    auto& self = *static_cast<StatementReader*>(handle);
    ++self.statements_;
    try {
      if (!self.complaint_.empty()) return SERD_SUCCESS;
      self.has_graph_ = !TextOf(graph).empty();
      self.has_literal_ = object->type == SERD_LITERAL;
      TakeResource(self, *subject, self.subject_);
      TakeResource(self, *predicate, self.predicate_);
      if (!self.has_literal_) {
        TakeResource(self, *object, self.object_);
      } else if (self.keep_literals_) {
        TakeLiteral(self, TextOf(object), TextOf(datatype), TextOf(language));
      }
      if (datatype != nullptr && datatype->type == SERD_CURIE) self.Refuse(1, "a datatype that is not an IRI in < >");
    } catch (const std::bad_alloc&) {
      self.out_of_memory_ = true;
      return SERD_ERR_INTERNAL;
    }
    return SERD_SUCCESS;
  }

  static SerdStatus Error(void* handle, const SerdError* error) noexcept {
    auto& self = *static_cast<StatementReader*>(handle);
    char text[160];
    std::vsnprintf(text, sizeof(text), error->fmt, *error->args);
    try {
      std::string_view reason(text);
      while (reason.ends_with('\n')) reason.remove_suffix(1);
      if (self.complaint_.empty()) self.Refuse(error->col, reason);  // the first one is nearest to the cause
    } catch (const std::bad_alloc&) {
      self.out_of_memory_ = true;
    }
    return SERD_SUCCESS;
  }

 private:
  static void TakeResource(StatementReader& self, const SerdNode& node, std::string& name) {
    const std::string_view text = TextOf(&node);
    name = node.type == SERD_BLANK ? "_:" : "";
    name += text;
    if (node.type == SERD_CURIE) self.Refuse(1, "a prefixed name");
    if (node.type != SERD_BLANK && IsNoIri(text)) self.Refuse(1, kNoIri);
    if (node.type == SERD_BLANK && text.ends_with('.')) self.Refuse(1, "a label with a full stop at its end");
    if (HasSurrogate(text)) self.Refuse(1, "a surrogate in an IRI");
  }

  static void TakeLiteral(StatementReader& self, std::string_view value, std::string_view datatype,
                          std::string_view language) {
    self.literal_text_ = value;
    self.literal_language_ = language;
    std::string& name = self.object_;
    name = '"';
    AppendEscaped(name, value);
    name += '"';
    if (!language.empty()) {
      name += '@';
      name += language;
    } else if (!datatype.empty() && datatype != kStringType) {
      name += "^^<";
      name += datatype;
      name += '>';
    }
    if (IsNoIri(datatype)) self.Refuse(1, kNoIri);
    if (HasSurrogate(name)) self.Refuse(1, "a surrogate in a literal");
  }
};

void StatementReader::Deleter::operator()(void* reader) const { serd_reader_free(static_cast<SerdReader*>(reader)); }

StatementReader::StatementReader(InputFormat format, bool keep_literals)
    : format_(format), keep_literals_(keep_literals) {
  // serd reads N-Triples as a subset of Turtle, but has a separate grammar for N-Quads, which is stricter. Use that.
  SerdReader* const reader = serd_reader_new(SERD_NQUADS, this, nullptr, nullptr, nullptr, &Sinks::Statement, nullptr);
  if (reader == nullptr) throw std::bad_alloc();
  reader_.reset(reader);
  serd_reader_set_strict(reader, true);
  serd_reader_set_error_sink(reader, &Sinks::Error, this);
}

StatementReader::~StatementReader() = default;

StatementReader::Result StatementReader::Read(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(" \t");
  if (begin == std::string_view::npos || line[begin] == '#') return Result::kNothing;
  line_ = line;
  complaint_.clear();
  statements_ = 0;
  // serd accepts some input that the format does not allow; the checks before and after it reject that.
  if (line[begin] == '[') Refuse(begin + 1, "a node without a label");
  const SerdStatus status = serd_reader_read_string(static_cast<SerdReader*>(reader_.get()),
                                                    reinterpret_cast<const std::uint8_t*>(line_.c_str()));
  if (out_of_memory_) throw std::bad_alloc();
  if (complaint_.empty() && statements_ == 0) Refuse(begin + 1, "no subject");
  if (complaint_.empty() && (status != SERD_SUCCESS || statements_ > 1)) Refuse(1, "more than one statement");
  if (complaint_.empty() && has_graph_ && format_ == InputFormat::kNtriples) {
    Refuse(1, "a graph after the object, which requires --format nquads");
  }
  return complaint_.empty() ? Result::kTriple : Result::kMalformed;
}

void StatementReader::Refuse(std::size_t column, std::string_view reason) {
  // serd may report a position after the end of the line.
  column_ = std::min(column, line_.size() + 1);
  if (column_ > line_.size()) {
    complaint_ = fmt::format("found the end of the line, expected a statement of {}, which ends in \" .\"",
                             InputFormatTitle(format_));
    return;
  }
  complaint_ = fmt::format("found \"{}\", expected a statement of {}; {}",
                           Escape(std::string_view(line_).substr(column_ - 1), 40), InputFormatTitle(format_),
                           Escape(reason, 160));
}

}  // namespace octavo
