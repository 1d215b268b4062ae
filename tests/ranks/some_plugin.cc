// Plugins for the tests of LoadTransport: PLUGIN_good, PLUGIN_old of another version, PLUGIN_nothing without the
// function.
#include <cstddef>
#include <cstdint>
#include <cstdio>

#include "ranks/plugin.h"

#ifndef PLUGIN_nothing

namespace {

int Start(int* rank, int* ranks, char* library, std::size_t library_bytes, char* error, std::size_t error_bytes) {
  *rank = 0;
  *ranks = 2;
  std::snprintf(library, library_bytes, "a library of a test");
  std::snprintf(error, error_bytes, "none");
  return 0;
}
void* Send(const void* /*data*/, std::uint64_t /*bytes*/, int /*to*/, int /*tag*/) { return nullptr; }
int Probe(int tag, int* /*from*/, std::uint64_t* /*bytes*/) { return tag == 7 ? -1 : 0; }
void* Receive(void* /*data*/, std::uint64_t /*bytes*/, int /*from*/, int /*tag*/) { return nullptr; }
int Test(void* request) { return request == nullptr ? -1 : 1; }
void Finish() {}
void Abort(int /*code*/) {}

#ifdef PLUGIN_old
constexpr std::uint32_t kAbi = OCTAVO_RANKS_ABI + 1;
#else
constexpr std::uint32_t kAbi = OCTAVO_RANKS_ABI;
#endif

constexpr OctavoRanks kRanks = {.abi = kAbi,
                                .start = Start,
                                .send = Send,
                                .probe = Probe,
                                .receive = Receive,
                                .test = Test,
                                .finish = Finish,
                                .abort = Abort};

}  // namespace

extern "C" const OctavoRanks* octavo_ranks();
extern "C" const OctavoRanks* octavo_ranks() { return &kRanks; }

#else

extern "C" int something_else();
extern "C" int something_else() { return 0; }

#endif
