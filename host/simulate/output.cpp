#include "host/simulate/output.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

namespace sluice::host {

Result<PendingOutput> PendingOutput::open(const std::string& path) {
  std::error_code code;
  const auto status = std::filesystem::status(path, code);
  if (std::filesystem::is_directory(status)) return Error{path + ": is a folder; name a file"};
  const bool special = std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
  if (path == "-" || special) return PendingOutput(path, "", nullptr);
  std::string temporary = fmt::format("{}.{}.tmp", path, getpid());
  File file(std::fopen(temporary.c_str(), "wb"));
  if (!file) return Error{fmt::format("{}: cannot be written: {}", path, std::strerror(errno))};
  return PendingOutput(path, std::move(temporary), std::move(file));
}

PendingOutput::PendingOutput(PendingOutput&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      file_(std::move(other.file_)),
      buffer_(std::move(other.buffer_)),
      failed_(other.failed_) {}

PendingOutput::~PendingOutput() {
  if (!temporary_.empty()) std::remove(temporary_.c_str());
}

Error PendingOutput::failure(const char* what) const {
  return Error{fmt::format("{}: {} failed: {}", path_ == "-" ? "stdout" : path_, what,
                           std::strerror(errno))};
}

void PendingOutput::flush() {
  if (!file_) file_.reset(std::tmpfile());
  if (!file_ || std::fwrite(buffer_.data(), 1, buffer_.size(), file_.get()) != buffer_.size())
    failed_ = true;
  buffer_.clear();
}

Result<void> PendingOutput::copy_to(std::FILE* target) {
  std::array<char, 1 << 16> block;
  if (file_) {
    std::rewind(file_.get());
    while (const std::size_t size = std::fread(block.data(), 1, block.size(), file_.get()))
      if (std::fwrite(block.data(), 1, size, target) != size) return failure("writing");
  }
  if (std::fwrite(buffer_.data(), 1, buffer_.size(), target) != buffer_.size() ||
      std::fflush(target) != 0)
    return failure("writing");
  return {};
}

Result<void> PendingOutput::commit() {
  if (!temporary_.empty()) {
    flush();
    if (failed_ || std::fclose(file_.release()) != 0) return failure("writing");
    if (std::rename(temporary_.c_str(), path_.c_str()) != 0) return failure("renaming");
    temporary_.clear();
    return {};
  }
  if (failed_) return failure("writing a temporary file");
  if (path_ == "-") return copy_to(stdout);
  const File target(std::fopen(path_.c_str(), "wb"));
  if (!target) return failure("opening");
  return copy_to(target.get());
}

}  // namespace sluice::host
