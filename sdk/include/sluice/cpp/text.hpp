// Texts at the edge of the C interface, in C++ terms.
//
// Views and adapters that own nothing; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sluice/abi.h"

namespace sluice {

inline std::string_view to_view(sluice_str_t text) noexcept {
  return text.len == 0 ? std::string_view() : std::string_view(text.ptr, text.len);
}

inline sluice_str_t to_abi(std::string_view text) noexcept { return {text.data(), text.size()}; }

/// Writes into a sink of the host; copied before write() returns.
class Sink {
 public:
  explicit Sink(const sluice_sink_t* sink) : sink_(sink) {}
  void write(std::string_view text) const {
    if (sink_ != nullptr) sink_->write(sink_->context, to_abi(text));
  }

  /// A sink that collects into `text`, for functions of the host that write.
  static sluice_sink_t into(std::string& text) {
    return {sizeof(sluice_sink_t), 0, &text, [](void* context, sluice_str_t piece) {
              static_cast<std::string*>(context)->append(to_view(piece));
            }};
  }

 private:
  const sluice_sink_t* sink_;
};

}  // namespace sluice
