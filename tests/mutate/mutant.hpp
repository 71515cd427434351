// Which mutation is on. `./dev mutate` copies the sources, puts all mutations into the copy and
// chooses one when a test starts: in the environment, so that what the test starts has it, too.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

namespace sluice::mutant {

/// SLUICE_MUTANT, the number of one; -1: none.
inline const int chosen = [] {
  const char* value = std::getenv("SLUICE_MUTANT");
  return value == nullptr ? -1 : std::atoi(value);
}();

/// SLUICE_MUTANTS_REACHED, a file with a byte for each: 1 where the process came by. Shared, so
/// that a killed process and its children leave it behind.
inline unsigned char* const reached = []() -> unsigned char* {
  const char* path = std::getenv("SLUICE_MUTANTS_REACHED");
  const int file = path == nullptr ? -1 : ::open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return nullptr;
  const auto size = static_cast<std::size_t>(::lseek(file, 0, SEEK_END));
  void* bytes = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  return bytes == MAP_FAILED ? nullptr : static_cast<unsigned char*>(bytes);
}();

[[gnu::always_inline]] inline bool on(int number) {
  if (reached != nullptr) reached[number] = 1;
  return number == chosen;
}

}  // namespace sluice::mutant
