// Reads lines of N-Triples and N-Quads (RDF 1.1, W3C recommendations of 25 February 2014) with serd.
//
// serd reads one line at a time, so a statement is one line, as the grammar requires, and a malformed one does not
// affect others. Some input that serd accepts here, even in strict mode, is rejected: [] as a subject, prefixed names,
// labels that end with a full stop, several statements on a line, surrogates, and escapes of characters that an IRI
// cannot contain. Valid input that serd rejects stays rejected: escapes in the scheme of an IRI.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "parse/input_format.h"

namespace octavo {

// One reader; not for concurrent use.
class StatementReader {
 public:
  // `format` is kNtriples or kNquads. Without `keep_literals` an object that is a literal is not stored.
  StatementReader(InputFormat format, bool keep_literals);
  ~StatementReader();
  StatementReader(const StatementReader&) = delete;
  StatementReader& operator=(const StatementReader&) = delete;

  enum class Result { kNothing, kTriple, kMalformed };
  // Reads a line without its line end. kNothing: a blank line or a comment. REQUIRES: no NUL byte in `line`
  Result Read(std::string_view line);

  // The result of Read, valid until the next call. An IRI is without < > and with its escapes decoded; a blank node is
  // _:label; a literal is in the canonical form of RDF 1.2 N-Triples ("..." with escapes, then @language or
  // ^^<datatype>), so that no name contains a tab or a line end.
  const std::string& subject() const { return subject_; }
  const std::string& predicate() const { return predicate_; }
  const std::string& object() const { return object_; }
  bool has_literal() const { return has_literal_; }
  // With keep_literals, of an object that is a literal: its text without quotes and escapes, and its language tag,
  // empty for none.
  const std::string& literal_text() const { return literal_text_; }
  const std::string& literal_language() const { return literal_language_; }
  bool has_graph() const { return has_graph_; }

  // The error after kMalformed: "found ..., expected ...", and its byte in the line, from 1.
  const std::string& complaint() const { return complaint_; }
  std::size_t column() const { return column_; }

 private:
  class Sinks;  // serd's callbacks
  struct Deleter {
    void operator()(void* reader) const;
  };

  void Refuse(std::size_t column, std::string_view reason);

  const InputFormat format_;
  const bool keep_literals_;
  std::unique_ptr<void, Deleter> reader_;  // a SerdReader
  std::string line_;                       // the current line, with a NUL at its end for serd
  std::string subject_, predicate_, object_;
  std::string literal_text_, literal_language_;
  std::string complaint_;
  std::size_t column_ = 0;
  std::size_t statements_ = 0;  // in the line
  bool has_literal_ = false;
  bool has_graph_ = false;
  bool out_of_memory_ = false;
};

}  // namespace octavo
