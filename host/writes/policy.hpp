// WritePolicy: what a kind needs on a write beyond its schema: values that depend on other objects,
// on the object's own identity, or on what the host does with it.
//
// Asked in the order of registration, before defaults and validation, for objects in the version
// they were written in (the kinds that need one have a single version). Any thread: what other
// objects say is asked of `objects` alone, which is asked again before the write takes effect.
#pragma once

#include <boost/json/object.hpp>
#include <vector>

#include "api/scheme/scheme.hpp"
#include "host/objects/object_access.hpp"

namespace sluice::host {

class WritePolicy {
 public:
  virtual ~WritePolicy() = default;
  virtual bool wants(const api::KindInfo& kind) const = 0;
  /// A new object; its identity is filled in already. `by_system`: the host itself writes.
  virtual void creating(const api::KindInfo& kind, boost::json::object& object,
                        const ObjectReader& objects, bool by_system,
                        std::vector<api::Problem>& problems) const = 0;
  /// A change of the main resource; `old` in hub form.
  virtual void updating(const api::KindInfo& kind, boost::json::object& object,
                        const boost::json::object& old, const ObjectReader& objects, bool by_system,
                        std::vector<api::Problem>& problems) const = 0;
};

}  // namespace sluice::host
