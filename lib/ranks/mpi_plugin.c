/* The plugin for MPI: its C interface, two-sided and nonblocking only. Compiled once for each MPI library. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ranks/plugin.h"

static void Copy(char* to, size_t bytes, const char* from) {
  if (bytes > 0) snprintf(to, bytes, "%s", from);
}

static int Start(int* rank, int* ranks, char* library, size_t library_bytes, char* error, size_t error_bytes) {
  int provided = 0;
  /* The thread that calls this is the only one that calls MPI. */
  if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS) {
    Copy(error, error_bytes, "MPI_Init_thread failed");
    return 1;
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  char name[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  if (MPI_Get_library_version(name, &length) != MPI_SUCCESS || MPI_Comm_rank(MPI_COMM_WORLD, rank) != MPI_SUCCESS ||
      MPI_Comm_size(MPI_COMM_WORLD, ranks) != MPI_SUCCESS) {
    Copy(error, error_bytes, "MPI does not tell the number of ranks");
    return 1;
  }
  name[strcspn(name, ",\n")] = '\0';
  for (char* tab = name; *tab != '\0'; ++tab) {
    if (*tab == '\t') *tab = ' ';
  }
  Copy(library, library_bytes, name);
  return 0;
}

static void* Send(const void* data, uint64_t bytes, int to, int tag) {
  MPI_Request* request = malloc(sizeof *request);
  if (request == NULL) return NULL;
  if (MPI_Isend(data, (int)bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD, request) == MPI_SUCCESS) return request;
  free(request);
  return NULL;
}

static int Probe(int tag, int* from, uint64_t* bytes) {
  MPI_Status status;
  int found = 0;
  if (MPI_Iprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &found, &status) != MPI_SUCCESS) return -1;
  if (!found) return 0;
  int count = 0;
  if (MPI_Get_count(&status, MPI_BYTE, &count) != MPI_SUCCESS) return -1;
  *from = status.MPI_SOURCE;
  *bytes = (uint64_t)count;
  return 1;
}

static void* Receive(void* data, uint64_t bytes, int from, int tag) {
  MPI_Request* request = malloc(sizeof *request);
  if (request == NULL) return NULL;
  if (MPI_Irecv(data, (int)bytes, MPI_BYTE, from, tag, MPI_COMM_WORLD, request) == MPI_SUCCESS) return request;
  free(request);
  return NULL;
}

static int Test(void* request) {
  int done = 0;
  if (MPI_Test(request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) return -1;
  if (done) free(request);
  return done;
}

#ifdef MPICH
/* Tells mpiexec of MPICH that this process leaves in good order, by its wire protocol PMI 1. Returns whether it knows.
 */
static int LeaveLauncher(void) {
  static const char kFinalize[] = "cmd=finalize\n";
  const char* const descriptor = getenv("PMI_FD");
  char answer[64];
  if (descriptor == NULL || getenv("SLURM_JOB_ID") != NULL) return 0; /* Slurm has another version */
  const int fd = atoi(descriptor);
  if (write(fd, kFinalize, sizeof kFinalize - 1) != (ssize_t)(sizeof kFinalize - 1)) return 0;
  return read(fd, answer, sizeof answer) > 0;
}
#endif

/* MPI_Finalize of MPICH 4.0 over TCP hardly ever returns: a rank disconnects from others that wait for it in its
 * launcher and listen no longer. Without the launcher's part of it, mpiexec kills the other ranks of the machine. */
static void Finish(void) {
#ifdef MPICH
  if (LeaveLauncher()) return;
#endif
  MPI_Finalize();
}

static void Abort(int code) { MPI_Abort(MPI_COMM_WORLD, code); }

static const struct OctavoRanks kRanks = {
    .abi = OCTAVO_RANKS_ABI,
    .start = Start,
    .send = Send,
    .probe = Probe,
    .receive = Receive,
    .test = Test,
    .finish = Finish,
    .abort = Abort,
};

__attribute__((visibility("default"))) const struct OctavoRanks* octavo_ranks(void);
const struct OctavoRanks* octavo_ranks(void) { return &kRanks; }
