// Scheme: every kind and API version that is known, as compiled schemas: defaulting, validation and
// conversion of objects in JSON form.
//
// The core kinds are data (api/schema/data/*.json) in the same form in which plugins contribute
// fields, kinds and rules (docs/plugins/schema.md documents it); a Scheme is filled at start-up
// with add() and then only read: after the last add() all const members may be called from any
// thread.
//
// The *hub* form is the kind's storage version (v1beta2 for kueue.x-k8s.io): admit() takes any
// served version and leaves the object in hub form; to_version() gives it back in another one.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/schema/kind_info.hpp"
#include "core/base/result.hpp"

namespace sluice::api {

struct SchemaNode;
struct CompiledKind;
struct UpdateRule;

class Scheme {
 public:
  /// Holds the core kinds.
  Scheme();
  ~Scheme();
  Scheme(Scheme&&) noexcept;
  Scheme& operator=(Scheme&&) noexcept;

  /// Adds what a plugin contributes (a JSON object, or an array of them; see
  /// docs/plugins/schema.md): fields of existing kinds, new kinds, rules, value mappings, columns.
  /// All or nothing: a malformed contribution, or one that touches what is there already, is an
  /// error, which tells all that is wrong with it, and changes nothing.
  Result<void> add(std::string_view contribution_json, std::string_view contributor);

  /// Defaults and validates `object` in the version it names and converts it to hub form, in place.
  /// `old` is the stored object in hub form on an update, else nullptr. All errors are reported at
  /// once; with errors the state of `object` is unspecified. Null values count as absent, as in the
  /// Kubernetes API. Unknown fields are removed (pruned) unless they are refused.
  Outcome admit(boost::json::object& object, const boost::json::object* old = nullptr,
                const AdmitOptions& options = {}) const;

  /// Converts a hub object to another served version, in place. Nothing is lost on the way there
  /// and back: what a version cannot say travels in an annotation.
  Result<void> to_version(boost::json::object& object, std::string_view version) const;
  /// The same of an object in any served version. It is not validated: what its schema does not
  /// allow is carried over as far as it has a place.
  Result<void> convert(boost::json::object& object, std::string_view version) const;

  /// nullptr when no version of the kind is known. `api_version` is `group/version` or `version`.
  const KindInfo* find(std::string_view api_version, std::string_view kind) const;
  /// By kind alone, or by plural, singular or short name; nullptr when unknown or ambiguous.
  const KindInfo* find_by_name(std::string_view name) const;
  std::vector<const KindInfo*> kinds() const;

  /// The fields of `object` (hub form) that contributions added, as compact JSON
  /// `{"spec":{…},"status":{…}}`; empty when there are none. Cheap when none were contributed.
  std::string extensions(std::string_view kind, const boost::json::object& object) const;

  /// Moves fields of `object` (hub form) that are not known out of it, and those of `hidden` that
  /// have become known back to their places. `hidden` is what this returned before for the object,
  /// or empty; returned is what is to be kept from now on, empty when that is nothing.
  std::string hide_unknown(const KindInfo& kind, boost::json::object& object,
                           std::string_view hidden) const;
  /// Tells whether hide_unknown() could have anything to do for objects that were stored under
  /// another scheme: the storage version and a hash of the fields. Without blanks.
  std::string fields_mark(const KindInfo& kind) const;

  /// The schema of a version for documents such as OpenAPI; nullptr when unknown.
  const SchemaNode* schema(std::string_view api_version, std::string_view kind) const;
  /// What an update of the kind may not change, in hub form.
  const std::vector<UpdateRule>& update_rules(const KindInfo& kind) const;
  /// Objects of the version have the fields of the hub form in the same places with the same
  /// values: rewriting apiVersion alone converts them, and loses nothing either way.
  bool same_form(const KindInfo& kind, std::string_view version) const;
  /// The schema of a named type (DeleteOptions, Scale, …) as the built-in kinds have it; nullptr
  /// when there is none of that name.
  const SchemaNode* type(std::string_view name) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The version in which objects of kueue.x-k8s.io are kept.
inline constexpr std::string_view kKueueVersion = "kueue.x-k8s.io/v1beta2";

/// A kind of kueue.x-k8s.io, which every Scheme has. REQUIRES: there is one of that name.
const KindInfo& kueue_kind(const Scheme& scheme, std::string_view name);

}  // namespace sluice::api
