// reprise: the memory that the ranks of an emulated communicator share
#include "Room.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace reprise::emulator;

/// Makes a file without a name, which others open through this process.
std::string reprise::emulator::makeRoom() {
  int file = memfd_create("reprise-emulated-nccl", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, sizeof(Room)) != 0)
    return "";
  return "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(file);
}

RoomPtr reprise::emulator::openRoom(const std::string &name) {
  int file = open(name.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0)
    return nullptr;
  void *memory = mmap(nullptr, sizeof(Room), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED)
    return nullptr;
  return RoomPtr(static_cast<Room *>(memory), [](Room *room) { munmap(room, sizeof(Room)); });
}
