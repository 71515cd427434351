// PodVariables: the environment of one container, by name and in the order in which the names came,
// and the texts that refer to it.
//
// Texts may refer to variables that refer to variables: each could be twice as long as the one
// before. Invariant: all that one container is given has kMostBytes at most, which is more than a
// process can be started with. A value; one thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sluice::host {

class PodVariables {
 public:
  /// As the system has it for the arguments and the environment of a program.
  static constexpr std::size_t kMostBytes = 2 * 1024 * 1024;

  /// False, and nothing is set: all values would be too long together.
  bool set(std::string name, std::string value);
  /// nullptr: there is none of that name.
  const std::string* find(std::string_view name) const;
  auto begin() const { return list_.begin(); }
  auto end() const { return list_.end(); }

  /// `$(NAME)` becomes the value, `$$` a dollar; names that are not defined stay as they are.
  /// nullopt: that would be longer than `most` bytes.
  std::optional<std::string> expand(std::string_view text, std::size_t most = kMostBytes) const;

 private:
  std::vector<std::pair<std::string, std::string>> list_;
  std::unordered_map<std::string, std::size_t> places_;
  std::size_t bytes_ = 0;
};

}  // namespace sluice::host
