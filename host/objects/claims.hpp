// Claims: which plugins a workload belongs to, because their traits say something of it, and that
// it stands aside because of them (docs/plugins/workload-traits.md).
//
// They are kept with the stored object, so that they outlive the plugins that made them, and only
// the system writes them: a user may at most make a new workload wait for a plugin. Stored claims
// are read and written here only. Invariant: names are in order, each once; a workload that stands
// aside is claimed. Pure functions, any thread.
#pragma once

#include <algorithm>
#include <boost/json/object.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "host/objects/store.hpp"

namespace sluice::host {

struct Claims {
  std::vector<std::string> plugins;
  bool aside = false;  ///< by the traits of one of them it takes no part

  bool has(std::string_view plugin) const {
    return std::find(plugins.begin(), plugins.end(), plugin) != plugins.end();
  }
  void add(const std::string& plugin);
  void remove(std::string_view plugin);
  /// The first that is not among these; empty: all are.
  std::string first_absent(const std::vector<std::string>& loaded) const;
  bool operator==(const Claims&) const = default;
};

Claims claims_of(const StoredObject& workload);
Claims claims_of(const boost::json::object& workload);
void set_claims(StoredObject& workload, const Claims& claims);
void set_claims(boost::json::object& workload, const Claims& claims);

/// Of an update: the claims are those of `before`, whatever was sent.
void keep_claims(const boost::json::object& before, boost::json::object& after);
/// Of a new object that was sent: it may wait for a plugin, but never stands aside.
void drop_standing_aside(boost::json::object& object);

}  // namespace sluice::host
