// FieldManager: server-side apply, and the record of the owners of fields that it rests on.
//
// Pure functions of their arguments; any thread. The rules are those of Kubernetes: an applier owns
// the fields of its configuration, any other writer owns what it changed; to change a field that
// another manager owns is a conflict for an applier (unless forced), while any other writer takes
// the ownership over; a field that an applier leaves out is removed when no other manager owns it.
// Owners of objects that were never applied to and have no managedFields are not tracked, until the
// first apply. What the host itself writes is not recorded.
#pragma once

#include <boost/json/object.hpp>
#include <string_view>

#include "api/scheme/scheme.hpp"
#include "core/base/time.hpp"
#include "host/objects/api_error.hpp"

namespace sluice::host {

/// The writer of a write, and what it is written to.
struct FieldOwner {
  const api::KindInfo& kind;
  std::string_view manager;
  std::string_view subresource;  ///< "" or "status"
  Time now = 0;
};

/// The object that results when `config` (in `version` of the kind) is applied to `live` (hub form;
/// nullptr: it does not exist yet), in `version`, with its managedFields. Equal to the live object,
/// managedFields included, when nothing changes. 400: no manager, or the configuration is
/// malformed; 409: conflicts, each with a cause.
ApiResult<boost::json::object> apply_configuration(const api::Scheme& scheme,
                                                   const FieldOwner& owner,
                                                   std::string_view version,
                                                   const boost::json::object* live,
                                                   const boost::json::object& config, bool force);

/// Sets the managedFields of a new object (hub form): all of it is the creator's, but for
/// `generated`, what the host itself has put into the object, which is nobody's.
void track_create(const api::Scheme& scheme, const FieldOwner& owner,
                  const boost::json::object& generated, boost::json::object& object);

/// Sets the managedFields of `after`, which an update or a patch that is no apply made of `before`;
/// both in hub form. A list of managedFields that the client put into `after` counts, `[{}]` ends
/// the tracking, an empty one is ignored.
void track_update(const api::Scheme& scheme, const FieldOwner& owner,
                  const boost::json::object& before, boost::json::object& after);

}  // namespace sluice::host
