// OwnKinds: the kinds that a plugin under test meets, with what it contributes to their schemas,
// and objects of them that these schemas take. What a host would refuse to store is shown to
// nobody.
//
// Used inside a test's child process only; one thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/scheme/scheme.hpp"
#include "host/plugins/judged_kind.hpp"
#include "host/plugins/validate/subject.hpp"

namespace sluice::host {

/// An object as a host stores it.
struct OwnObject {
  std::string api_version, kind, ns, name, text;

  PluginObjectRef ref() const { return {api_version, kind, ns, name}; }
};

class OwnKinds {
 public:
  /// Asks the instance what it contributes. Throws TestFailed with all that is wrong with that.
  explicit OwnKinds(TestInstance& instance);

  /// One with what has to be there, one with everything that can be; of a kind that neither the
  /// host nor the plugin has, a bare one. Throws TestFailed where the schema takes none.
  std::vector<OwnObject> objects(std::string_view api_version, std::string_view kind) const;

  /// What a validator asked for, by `GROUP/KIND` or `KIND`.
  std::vector<OwnObject> objects_of(std::string_view name) const;

  /// Throws TestFailed for a kind that no host can have: of a group that only the host itself has
  /// kinds of. Others may be declared by a page or another plugin.
  void expect_possible(const JudgedKind& kind) const;

  /// Those of its own kinds of jobs.
  std::vector<OwnObject> jobs() const;

  /// What the schema says against it; empty: nothing.
  std::string mistakes(std::string_view object) const;

  const api::Scheme& scheme() const { return scheme_; }

 private:
  api::Scheme scheme_;
};

/// The kinds that a validator wants to see, each once.
std::vector<JudgedKind> validated_kinds(TestInstance& instance);

}  // namespace sluice::host
