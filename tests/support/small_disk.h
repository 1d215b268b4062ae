// A real file system of a few MiB, to fill up: a tmpfs in the folder, if this process may mount one.
#pragma once

#include <sys/mount.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>

namespace octavo {

class SmallDisk {
 public:
  SmallDisk(std::filesystem::path folder, std::uint64_t bytes) : folder_(std::move(folder)) {
    std::filesystem::create_directories(folder_);
    const std::string options = "size=" + std::to_string(bytes);
    mounted_ = ::mount("tmpfs", folder_.c_str(), "tmpfs", 0, options.c_str()) == 0;
    if (!mounted_) std::fprintf(stderr, "NOT TESTED: a really full disk; mounting a tmpfs requires root\n");
  }
  ~SmallDisk() {
    if (mounted_) ::umount2(folder_.c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  bool mounted() const { return mounted_; }
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
  bool mounted_ = false;
};

}  // namespace octavo
