// The gate for texts of plugins: each text that a plugin hands to the host comes in through here.
//
// A plugin's text is input like a client's: it may be cut inside a character, hold a terminal's
// escape sequences or line breaks, or be of any length. A text for people is mended so that one
// sees it: U+FFFD for what is wrong, "…" where it was cut. A text that decides something (a name, a
// key, a list) is taken as it is or not at all: what is wrong with it makes the whole answer a
// fault. Behind the gate a text is well-formed UTF-8, bounded, and a name has no control
// characters.
//
// Plain functions and values; any thread. What a plugin calls through a C table is noexcept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/abi.h"

namespace sluice::host {

inline constexpr std::size_t kNameBytes = 1024;
inline constexpr std::size_t kSentenceBytes = 1024;  ///< a reason, a fault, an event's message
inline constexpr std::size_t kLogBytes = 4096;       ///< a line in the log
inline constexpr std::size_t kMessageBytes = 32768;  ///< what the API allows for a condition
inline constexpr std::size_t kDocumentBytes = std::size_t{8} << 20;  ///< JSON, lists of names

/// Borrowed text of the C interface, not judged yet; a null pointer counts as empty.
inline std::string_view view_of(sluice_str_t text) {
  return text.ptr == nullptr ? std::string_view() : std::string_view(text.ptr, text.len);
}
inline sluice_str_t abi_of(std::string_view text) { return {text.data(), text.size()}; }
/// What is written there is appended to the text, which must outlive it.
inline sluice_sink_t sink_of(std::string& text) {
  return {sizeof(sluice_sink_t), 0, &text, [](void* context, sluice_str_t piece) {
            static_cast<std::string*>(context)->append(view_of(piece));
          }};
}

/// A text for people, mended. Reads no more than `most` bytes of it.
std::string shown_text(std::string_view text, std::size_t most = kSentenceBytes);
inline std::string shown_text(sluice_str_t text, std::size_t most = kSentenceBytes) {
  return shown_text(view_of(text), most);
}

/// How many texts of this process had to be mended, and what the last one became. Any thread.
struct Mended {
  std::uint64_t texts = 0;
  std::string last;
};
Mended mended();

/// What is wrong with a name ("is not well-formed UTF-8"); nullptr: nothing. It may be empty.
const char* name_problem(std::string_view name, std::size_t most = kNameBytes);

/// The same for a document, or a text that is kept as it is, with line breaks.
const char* document_problem(std::string_view document);

/// The same text of printable characters for the same bytes, and another one for others: for keys
/// that are only compared, and may be cut out of a user's text anywhere.
std::string escaped_key(std::string_view key);

/// What makes no sense in one answer: the first thing that was found. Keeps pointers to constant
/// texts only, so that noting it cannot fail.
class Nonsense {
 public:
  void note(const char* what, const char* problem = "") noexcept {
    if (what_ == nullptr) what_ = what, problem_ = problem;
  }
  explicit operator bool() const { return what_ != nullptr; }
  /// `the group's id is not well-formed UTF-8`
  std::string sentence() const;

 private:
  const char* what_ = nullptr;
  const char* problem_ = "";
};

inline constexpr const char* kNoMemory = "there is no memory for it";

/// A name that decides something; empty when it was noted as wrong.
std::string name_of(sluice_str_t text, const char* what, Nonsense& nonsense);
/// The same; empty is wrong, too.
std::string required_name_of(sluice_str_t text, const char* what, Nonsense& nonsense);
/// The reason of a condition: a word as the API has them.
std::string condition_reason_of(sluice_str_t text, const char* what, Nonsense& nonsense);
/// A text that is stored as it is, with line breaks: the value of an annotation.
std::string value_of(sluice_str_t text, const char* what, Nonsense& nonsense);

/// What a plugin writes into one sink, up to a limit.
class IncomingText {
 public:
  explicit IncomingText(std::size_t most = kDocumentBytes) : most_(most) {}
  IncomingText(const IncomingText&) = delete;
  IncomingText& operator=(const IncomingText&) = delete;

  sluice_sink_t sink() { return {sizeof(sluice_sink_t), 0, this, &write}; }

  bool empty() const { return text_.empty(); }
  /// For people.
  std::string shown(std::size_t most = kSentenceBytes) const { return shown_text(text_, most); }
  /// Its lines for people, without empty ones.
  std::vector<std::string> shown_lines() const;
  /// A document; empty, and noted, when it is not well-formed UTF-8 or longer than the limit.
  std::string document(const char* what, Nonsense& nonsense) const;
  /// Its lines, without empty ones; each a name. What is wrong is noted.
  std::vector<std::string> names(const char* what, Nonsense& nonsense) const;
  /// Only that: for a key that is compared, whatever its bytes are.
  Nonsense too_long(const char* what) const;
  /// The bytes, not judged: for a key that is only compared.
  const std::string& bytes() const { return text_; }

 private:
  static void write(void* context, sluice_str_t piece) noexcept;

  std::size_t most_;
  std::string text_;
  const char* problem_ = nullptr;
};

}  // namespace sluice::host
