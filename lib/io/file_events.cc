#include "io/file_events.h"

#include <atomic>

namespace octavo {
namespace {

std::atomic<FileListener*>& Listener() {
  static std::atomic<FileListener*> listener{nullptr};
  return listener;
}

}  // namespace

void SetFileListener(FileListener* listener) { Listener().store(listener, std::memory_order_release); }

bool HasFileListener() { return Listener().load(std::memory_order_relaxed) != nullptr; }

void TellFileEvent(const FileEvent& event) {
  if (FileListener* listener = Listener().load(std::memory_order_acquire); listener != nullptr) {
    listener->OnFileEvent(event);
  }
}

}  // namespace octavo
