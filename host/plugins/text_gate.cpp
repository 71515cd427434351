#include "host/plugins/text_gate.hpp"

#include <algorithm>
#include <exception>
#include <mutex>

#include "api/schema/formats.hpp"
#include "core/base/text.hpp"
#include "core/base/utf8.hpp"

namespace sluice::host {

namespace {

constexpr const char* kNotUtf8 = "is not well-formed UTF-8";

bool is_plain_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c < 0x7F; });
}

struct MendedTexts {
  std::mutex mutex;
  Mended mended;  // guarded by mutex
};

MendedTexts& mended_texts() {
  static auto* const all = new MendedTexts();  // threads of plugins may outlive everything
  return *all;
}

std::string taken(std::string_view text, const char* problem, const char* what,
                  Nonsense& nonsense) {
  if (problem == nullptr) return std::string(text);
  nonsense.note(what, problem);
  return {};
}

}  // namespace

// Nearly all texts are short and plain.
std::string shown_text(std::string_view text, std::size_t most) {
  if (text.size() <= most && is_plain_ascii(text)) return std::string(text);
  std::string shown = one_line(text, most);
  if (shown == text) return shown;
  MendedTexts& all = mended_texts();
  const std::lock_guard lock(all.mutex);
  ++all.mended.texts;
  all.mended.last = shown;
  return shown;
}

Mended mended() {
  MendedTexts& all = mended_texts();
  const std::lock_guard lock(all.mutex);
  return all.mended;
}

const char* name_problem(std::string_view name, std::size_t most) {
  if (name.size() > most) return "is too long";
  if (is_plain_ascii(name)) return nullptr;
  if (find_bad_utf8(name) != std::string_view::npos) return kNotUtf8;
  return has_control_characters(name) ? "has control characters" : nullptr;
}

const char* document_problem(std::string_view document) {
  if (document.size() > kDocumentBytes) return "is too long";
  return find_bad_utf8(document) == std::string_view::npos ? nullptr : kNotUtf8;
}

std::string escaped_key(std::string_view key) {
  if (is_plain_ascii(key) && key.find('\\') == key.npos) return std::string(key);
  std::string out;
  for (const char c : key) {
    const auto byte = static_cast<unsigned char>(c);
    if (c >= ' ' && c < 0x7F && c != '\\')
      out += c;
    else
      append_hex(byte, out += '\\');
  }
  return out;
}

std::string Nonsense::sentence() const {
  if (what_ == nullptr) return {};
  return std::string(what_) + (*problem_ == '\0' ? "" : " ") + problem_;
}

std::string name_of(sluice_str_t text, const char* what, Nonsense& nonsense) {
  return taken(view_of(text), name_problem(view_of(text)), what, nonsense);
}

std::string required_name_of(sluice_str_t text, const char* what, Nonsense& nonsense) {
  if (view_of(text).empty()) nonsense.note(what, "is empty");
  return name_of(text, what, nonsense);
}

std::string condition_reason_of(sluice_str_t text, const char* what, Nonsense& nonsense) {
  const std::string_view reason = view_of(text);
  const bool good =
      reason.size() <= kNameBytes && api::has_format(api::Format::kConditionReason, reason);
  return taken(reason, good ? nullptr : "is no word that a condition may have as its reason", what,
               nonsense);
}

std::string value_of(sluice_str_t text, const char* what, Nonsense& nonsense) {
  return taken(view_of(text), document_problem(view_of(text)), what, nonsense);
}

std::string IncomingText::document(const char* what, Nonsense& nonsense) const {
  return taken(text_, problem_ != nullptr ? problem_ : document_problem(text_), what, nonsense);
}

std::vector<std::string> IncomingText::names(const char* what, Nonsense& nonsense) const {
  if (problem_ != nullptr) nonsense.note(what, problem_);
  std::vector<std::string> names;
  for (const std::string_view line : words(text_, '\n')) {
    if (const char* problem = name_problem(line)) nonsense.note(what, problem);
    names.emplace_back(line);
  }
  return names;
}

std::vector<std::string> IncomingText::shown_lines() const {
  std::vector<std::string> lines;
  for (const std::string_view line : words(text_, '\n')) lines.push_back(shown_text(line));
  return lines;
}

Nonsense IncomingText::too_long(const char* what) const {
  Nonsense nonsense;
  if (problem_ != nullptr) nonsense.note(what, problem_);
  return nonsense;
}

void IncomingText::write(void* context, sluice_str_t piece) noexcept {
  IncomingText& text = *static_cast<IncomingText*>(context);
  const std::string_view bytes = view_of(piece);
  const std::size_t left = text.most_ - text.text_.size();
  if (bytes.size() > left) text.problem_ = "is too long";
  try {
    text.text_.append(bytes.substr(0, left));
  } catch (const std::exception&) {
    text.problem_ = kNoMemory;
  }
}

}  // namespace sluice::host
