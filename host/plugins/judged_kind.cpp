#include "host/plugins/judged_kind.hpp"

#include <algorithm>
#include <optional>

#include "api/schema/formats.hpp"
#include "core/base/text.hpp"

namespace sluice::host {
namespace {

constexpr const char* kAllowed =
    "[GROUP/]KIND [label:SELECTOR] [annotation:[!]NAME] [except:NAMESPACE,NAMESPACE] "
    "[if-answered] "
    "[resource:VERSION/PLURAL | resource:GROUP/VERSION/PLURAL/SUBRESOURCE]";

/// What stands behind `name:`; nullopt: another word, or nothing stands there.
std::optional<std::string_view> value_of(std::string_view word, std::string_view name) {
  if (!word.starts_with(name) || word.size() < name.size() + 2 || word[name.size()] != ':')
    return std::nullopt;
  return word.substr(name.size() + 1);
}

bool take(std::string_view word, JudgedKind& into) {
  if (word == "if-answered") return into.if_answered = true;
  if (const auto labels = value_of(word, "label")) {
    into.labels = *labels;
    return true;
  }
  if (const auto annotation = value_of(word, "annotation")) {
    into.annotation = *annotation;
    return api::is_qualified_name(annotation->substr(annotation->starts_with('!') ? 1 : 0));
  }
  if (const auto except = value_of(word, "except")) {
    const auto namespaces = split(*except, ',');
    into.except.assign(namespaces.begin(), namespaces.end());
    return std::none_of(into.except.begin(), into.except.end(),
                        [](const std::string& each) { return each.empty(); });
  }
  const auto resource = value_of(word, "resource");
  const auto parts = resource ? split(*resource, '/') : std::vector<std::string_view>();
  if (std::any_of(parts.begin(), parts.end(), [](const auto& each) { return each.empty(); }))
    return false;
  constexpr std::size_t kObject = 2, kSubresource = 4;
  if (parts.size() == kObject) {
    into.version = parts[0];
    into.plural = parts[1];
    return true;
  }
  if (parts.size() != kSubresource) return false;
  into.written_group = parts[0];
  into.version = parts[1];
  into.plural = std::string(parts[2]) + "/" + std::string(parts[3]);
  return true;
}

}  // namespace

Result<JudgedKind> parse_judged_kind(std::string_view line) {
  const auto words = split(line, ' ');
  JudgedKind out;
  out.group_kind = words.front();
  if (out.group_kind.empty()) return Error{std::string("found no kind; allowed: ") + kAllowed};
  for (std::size_t i = 1; i < words.size(); ++i)
    if (!take(words[i], out))
      return Error{"found \"" + std::string(words[i]) + "\" in \"" + std::string(line) +
                   "\"; allowed: " + kAllowed};
  return out;
}

}  // namespace sluice::host
