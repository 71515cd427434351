#include "tests/host/store/recording_vfs.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <memory>
#include <new>

namespace sluice::host::test {
namespace {

using Operation = RecordingVfs::Operation;

// What SQLite allocates for each open file: ours, and behind it that of the real file system.
struct File {
  sqlite3_file base;
  RecordingVfs* owner;
  std::string* name;
  sqlite3_file* real() {
    return reinterpret_cast<sqlite3_file*>(reinterpret_cast<char*>(this) + sizeof(File));
  }
};

File* ours(sqlite3_file* file) { return reinterpret_cast<File*>(file); }
sqlite3_file* real(sqlite3_file* file) { return ours(file)->real(); }
const sqlite3_io_methods& methods(sqlite3_file* file) { return *real(file)->pMethods; }
sqlite3_vfs* system_vfs(sqlite3_vfs* vfs);

int do_close(sqlite3_file* file) {
  const int code = methods(file).xClose(real(file));
  delete ours(file)->name;
  return code;
}
int do_read(sqlite3_file* file, void* data, int size, sqlite3_int64 offset) {
  return methods(file).xRead(real(file), data, size, offset);
}
int do_write(sqlite3_file* file, const void* data, int size, sqlite3_int64 offset) {
  const int code = ours(file)->owner->on_write(*ours(file)->name, data, size, offset);
  return code != SQLITE_OK ? code : methods(file).xWrite(real(file), data, size, offset);
}
int do_truncate(sqlite3_file* file, sqlite3_int64 size) {
  ours(file)->owner->on_truncate(*ours(file)->name, size);
  return methods(file).xTruncate(real(file), size);
}
int do_sync(sqlite3_file* file, int flags) {
  const int code = ours(file)->owner->on_sync(*ours(file)->name);
  return code != SQLITE_OK ? code : methods(file).xSync(real(file), flags);
}
int do_size(sqlite3_file* file, sqlite3_int64* size) {
  return methods(file).xFileSize(real(file), size);
}
int do_lock(sqlite3_file* file, int lock) { return methods(file).xLock(real(file), lock); }
int do_unlock(sqlite3_file* file, int lock) { return methods(file).xUnlock(real(file), lock); }
int do_check_lock(sqlite3_file* file, int* out) {
  return methods(file).xCheckReservedLock(real(file), out);
}
int do_control(sqlite3_file* file, int op, void* argument) {
  return methods(file).xFileControl(real(file), op, argument);
}
int do_sector(sqlite3_file* file) { return methods(file).xSectorSize(real(file)); }
int do_device(sqlite3_file* file) { return methods(file).xDeviceCharacteristics(real(file)); }
int do_shm_map(sqlite3_file* file, int page, int size, int extend, void volatile** out) {
  return methods(file).xShmMap(real(file), page, size, extend, out);
}
int do_shm_lock(sqlite3_file* file, int offset, int count, int flags) {
  return methods(file).xShmLock(real(file), offset, count, flags);
}
void do_shm_barrier(sqlite3_file* file) { methods(file).xShmBarrier(real(file)); }
int do_shm_unmap(sqlite3_file* file, int remove) {
  return methods(file).xShmUnmap(real(file), remove);
}

const sqlite3_io_methods kMethods = {
    2,           do_close,       do_read,       do_write,   do_truncate, do_sync,   do_size,
    do_lock,     do_unlock,      do_check_lock, do_control, do_sector,   do_device, do_shm_map,
    do_shm_lock, do_shm_barrier, do_shm_unmap,  nullptr,    nullptr};

struct Registered {
  sqlite3_vfs vfs;  // first: SQLite hands us its address
  RecordingVfs* owner;
  sqlite3_vfs* system;
};

sqlite3_vfs* system_vfs(sqlite3_vfs* vfs) { return reinterpret_cast<Registered*>(vfs)->system; }

std::string base_name(const char* path) {
  return path == nullptr ? "" : std::filesystem::path(path).filename().string();
}

int do_open(sqlite3_vfs* vfs, const char* path, sqlite3_file* file, int flags, int* out) {
  File* mine = ours(file);
  mine->base.pMethods = nullptr;
  mine->owner = reinterpret_cast<Registered*>(vfs)->owner;
  const int code = system_vfs(vfs)->xOpen(system_vfs(vfs), path, mine->real(), flags, out);
  if (code != SQLITE_OK) return code;
  mine->name = new std::string(base_name(path));
  mine->base.pMethods = &kMethods;
  return code;
}

int do_delete(sqlite3_vfs* vfs, const char* path, int sync) {
  reinterpret_cast<Registered*>(vfs)->owner->on_delete(base_name(path), sync != 0);
  return system_vfs(vfs)->xDelete(system_vfs(vfs), path, sync);
}

void write_at(std::string& file, std::size_t offset, const std::string& data) {
  if (file.size() < offset + data.size()) file.resize(offset + data.size(), '\0');
  file.replace(offset, data.size(), data);
}

void apply_to(DiskImage& image, const Operation& operation) {
  switch (operation.type) {
    case Operation::Type::kWrite:
      return write_at(image[operation.file], operation.offset, operation.data);
    case Operation::Type::kTruncate:
      return image[operation.file].resize(operation.offset, '\0');
    case Operation::Type::kDelete:
      image.erase(operation.file);
      return;
    default:
      return;
  }
}

// Some of what was not synced: nothing, all, or each operation by chance, writes also in part.
void apply_some(DiskImage& image, const std::vector<const Operation*>& unsynced,
                std::mt19937_64& random) {
  const auto how = random() % 3;
  if (how == 0) return;
  for (const Operation* operation : unsynced) {
    if (how == 1) {
      apply_to(image, *operation);
    } else if (random() % 2 == 0) {
      Operation part = *operation;
      if (part.type == Operation::Type::kWrite && random() % 3 == 0) {
        const std::size_t begin = random() % (part.data.size() + 1);
        const std::size_t end = begin + random() % (part.data.size() - begin + 1);
        part.offset += begin;
        part.data = part.data.substr(begin, end - begin);
      }
      apply_to(image, part);
    }
  }
}

Registered registered;

}  // namespace

RecordingVfs::RecordingVfs() {
  sqlite3_vfs* system = sqlite3_vfs_find(nullptr);
  registered.vfs = *system;
  registered.vfs.zName = name();
  registered.vfs.pNext = nullptr;
  registered.vfs.szOsFile = static_cast<int>(sizeof(File)) + system->szOsFile;
  registered.vfs.xOpen = do_open;
  registered.vfs.xDelete = do_delete;
  registered.owner = this;
  registered.system = system;
  vfs_ = &registered.vfs;
  sqlite3_vfs_register(vfs_, 0);
}

RecordingVfs::~RecordingVfs() { sqlite3_vfs_unregister(vfs_); }

void RecordingVfs::add(Operation operation) { record_.push_back(std::move(operation)); }

void RecordingVfs::mark(std::size_t number) { add({Operation::Type::kMark, "", 0, "", number}); }

void RecordingVfs::fail(Failure what, std::size_t at) {
  what_ = what;
  at_ = at;
  calls_ = 0;
}

int RecordingVfs::on_write(const std::string& file, const void* data, int size,
                           std::int64_t offset) {
  if ((what_ == Failure::kWrite || what_ == Failure::kFull) && ++calls_ >= at_)
    return what_ == Failure::kFull ? SQLITE_FULL : SQLITE_IOERR_WRITE;
  add({Operation::Type::kWrite, file, static_cast<std::size_t>(offset),
       std::string(static_cast<const char*>(data), static_cast<std::size_t>(size)), 0});
  return SQLITE_OK;
}

int RecordingVfs::on_sync(const std::string& file) {
  if (what_ == Failure::kSync && ++calls_ >= at_) return SQLITE_IOERR_FSYNC;
  add({Operation::Type::kSync, file, 0, "", 0});
  return SQLITE_OK;
}

void RecordingVfs::on_truncate(const std::string& file, std::int64_t size) {
  add({Operation::Type::kTruncate, file, static_cast<std::size_t>(size), "", 0});
}

void RecordingVfs::on_delete(const std::string& file, bool sync) {
  add({Operation::Type::kDelete, file, 0, "", 0});
  if (sync) add({Operation::Type::kSync, file, 0, "", 0});
}

void RecordedDisk::play(const Operation& operation) {
  if (operation.type == Operation::Type::kMark) return;
  auto& waiting = unsynced_[operation.file];
  if (operation.type != Operation::Type::kSync) {
    waiting.push_back(&operation);
    return;
  }
  for (const Operation* each : waiting) apply_to(synced_, *each);
  waiting.clear();
}

DiskImage RecordedDisk::after_power_cut(std::mt19937_64& random) const {
  DiskImage image = synced_;
  for (const auto& [file, waiting] : unsynced_) apply_some(image, waiting, random);
  return image;
}

}  // namespace sluice::host::test
