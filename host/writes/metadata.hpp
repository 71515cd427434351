// The rules of metadata: what the system fills in and keeps on every write (Kubernetes API
// conventions). Pure functions on hub objects; any thread.
#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/time.hpp"
#include "host/objects/intake.hpp"

namespace sluice::host {

/// The object's metadata; made when absent.
boost::json::object& metadata_of(boost::json::object& object);
/// nullptr when absent.
const boost::json::object* metadata_of(const boost::json::object& object);

/// Removes what only the system may say: for an object that a user creates.
void drop_system_metadata(boost::json::object& object);

/// Of a new object: the generation that it brings, as the dump of a cluster does, else 1.
void start_generation(boost::json::object& object);

/// Identity of a new object: uid and creation time where missing, and its generation.
void give_identity(boost::json::object& object, std::string_view uid, Time now);

/// The same for an object that was encoded before its identity was known, where it has none.
/// `created` to the nanosecond, because a virtual clock can tell; nullopt: it is given later.
void give_identity(PreparedObject& object, std::string_view uid, std::optional<Time> created);

/// The metadata of an update: identity, deletion and generation are those of `before`; the
/// resourceVersion is dropped.
/// The claims of plugins stay, too.
void keep_system_metadata(const boost::json::object& before, boost::json::object& after);

/// Whether anything but metadata and status differs.
bool body_differs(const boost::json::object& before, const boost::json::object& after);
/// Whether anything at all differs (resourceVersion left aside).
bool object_differs(const boost::json::object& before, const boost::json::object& after);

/// metadata.generation + 1.
void advance_generation(boost::json::object& object);

bool is_terminating(const boost::json::object& object);
std::vector<std::string> finalizers_of(const boost::json::object& object);
bool has_finalizer(const boost::json::object& object, std::string_view name);
void add_finalizer(boost::json::object& object, std::string_view name);
void remove_finalizer(boost::json::object& object, std::string_view name);

/// Sets deletionTimestamp (now + grace) and deletionGracePeriodSeconds.
void mark_for_deletion(boost::json::object& object, Time now, std::int64_t grace_seconds);

}  // namespace sluice::host
