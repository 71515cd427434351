// PendingOutput: text that appears as a whole at commit(), or not at all.
//
// A file is written under a temporary name beside it and renamed; for stdout, and for a path that
// is no regular file, the text waits in memory and then in an unnamed temporary file. Dropping the
// object without commit() leaves no trace. Belongs to one thread.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace sluice::host {

class PendingOutput {
 public:
  /// `path` "-" is stdout. Fails at once when the place cannot be written to.
  static Result<PendingOutput> open(const std::string& path);
  PendingOutput(PendingOutput&& other) noexcept;
  PendingOutput& operator=(PendingOutput&&) = delete;
  ~PendingOutput();

  /// Append here, then call filled(); saves a copy of each piece.
  std::string& buffer() { return buffer_; }
  /// To be called after each record; writes the buffer out when it is full.
  void filled() {
    if (buffer_.size() >= kFlushBytes) flush();
  }
  void append(std::string_view text) {
    buffer_ += text;
    filled();
  }
  /// Makes the text visible. An error names the place and what failed.
  Result<void> commit();

 private:
  static constexpr std::size_t kFlushBytes = 1 << 20;
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  using File = std::unique_ptr<std::FILE, Close>;

  PendingOutput(std::string path, std::string temporary, File file)
      : path_(std::move(path)), temporary_(std::move(temporary)), file_(std::move(file)) {}
  void flush();
  Result<void> copy_to(std::FILE* target);
  Error failure(const char* what) const;

  std::string path_;
  std::string temporary_;  ///< empty: not a file that is renamed
  File file_;              ///< null until the buffer was full for the first time, or the named file
  std::string buffer_;
  bool failed_ = false;
};

}  // namespace sluice::host
