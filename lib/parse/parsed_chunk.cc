#include "parse/parsed_chunk.h"

#include <algorithm>

namespace octavo {

namespace {

// For the names of a chunk, which has up to some hundred thousand.
constexpr std::size_t kKeptBlockBytes = std::size_t{64} << 10;

}  // namespace

void ParsedLabels::Add(std::string_view name, std::string_view label) {
  text += name;
  text += label;
  lengths.push_back({static_cast<std::uint32_t>(name.size()), static_cast<std::uint32_t>(label.size())});
}

std::string_view ParsedChunk::Keep(std::string_view text) {
  if (unescaped.empty() || unescaped.back().capacity() - unescaped.back().size() < text.size()) {
    unescaped.emplace_back().reserve(std::max(kKeptBlockBytes, text.size()));
  }
  std::string& block = unescaped.back();
  block += text;
  return std::string_view(block).substr(block.size() - text.size());
}

}  // namespace octavo
