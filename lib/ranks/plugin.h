// What a plugin offers: messages between the ranks of a job, by one of the MPI libraries.
//
// A plugin is a shared object that exports octavo_ranks(). The program loads it only if a launcher says that there are
// several ranks, so a program without MPI links nothing of it. C: the plugin knows no other header of octavo.
//
// All functions are called by one thread, from start to finish. A tag names a kind of message; messages of one tag from
// one rank arrive in the order in which they were sent. Lengths are in bytes, at most OCTAVO_RANKS_MOST_BYTES.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define OCTAVO_RANKS_ABI 1
#define OCTAVO_RANKS_MOST_BYTES (64u << 20)

struct OctavoRanks {
  uint32_t abi; /* OCTAVO_RANKS_ABI */

  /* Joins the job: the number of this rank, how many there are, and the library's name and version, cut to
   * library_bytes with its end. Returns 0, or 1 with a message in `error`, cut to error_bytes. */
  int (*start)(int* rank, int* ranks, char* library, size_t library_bytes, char* error, size_t error_bytes);

  /* Begins to send; `data` stays as it is until the request is done. Returns a request, or NULL after an error. */
  void* (*send)(const void* data, uint64_t bytes, int to, int tag);

  /* Whether a message with the tag has arrived: 1 with its sender and length, 0, or -1 after an error. */
  int (*probe)(int tag, int* from, uint64_t* bytes);

  /* Begins to receive the message that probe found last; `data` is written until the request is done. Returns a
   * request, or NULL after an error. */
  void* (*receive)(void* data, uint64_t bytes, int from, int tag);

  /* Whether the request is done: 1, and it is freed; 0; or -1 after an error. */
  int (*test)(void* request);

  /* Leaves the job, when all ranks do. */
  void (*finish)(void);

  /* Ends the processes of all ranks, as far as they can be reached, with this exit code. */
  void (*abort)(int code);
};

typedef const struct OctavoRanks* (*OctavoRanksFunction)(void); /* octavo_ranks */

#ifdef __cplusplus
}
#endif
