#include "base/file_refusal.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstddef>

#include "base/deep_stack.h"

namespace octavo {
namespace {

// Holds for the calling thread, until it ends.
void RefuseNewFiles() {
  // The lower half of the 64-bit argument `flags` of openat, by which the C library opens files.
  constexpr std::size_t kFlags = offsetof(seccomp_data, args) + 2 * sizeof(seccomp_data::args[0]) +
                                 (std::endian::native == std::endian::big ? sizeof(int) : 0);
  std::array<sock_filter, 6> steps = {{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kFlags),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_CREAT, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog program = {.len = steps.size(), .filter = steps.data()};
  // Without new privileges a filter needs none itself. Both calls concern this thread only.
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0) ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

}  // namespace

bool RunWithoutNewFiles(const std::function<void()>& function) {
  return RunOnDeepStack([&function, here = ::gettid()] {
    if (::gettid() != here) RefuseNewFiles();
    function();
  });
}

}  // namespace octavo
