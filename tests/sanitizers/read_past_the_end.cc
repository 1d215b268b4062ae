// Reads one element past the end of a vector.

#include <vector>

int main(int argc, char**) {
  const std::vector<int> values(static_cast<std::size_t>(argc) * 4, 0);
  return values.data()[values.size()];
}
