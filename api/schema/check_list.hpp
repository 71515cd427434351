// The plain list of checks that a ClusterQueue of v1beta1 may have in place of a strategy.
//
// The hub has the strategy only. Which of the two its user wrote is remembered in the annotation
// for fields that the hub does not have, and shown again while it is true: whoever applies a
// manifest compares it with what is shown, and a list that comes back as a strategy would be added
// to it by each apply, and not be taken away with the line of the manifest. Pure functions, any
// thread.
#pragma once

#include <boost/json/object.hpp>

namespace sluice::api {

/// Whether list and strategy of this spec name the same checks, each for all flavors.
bool check_list_is_strategy(const boost::json::object& spec);

/// Makes a strategy of the list. The list stays: it is no field of the hub, and is put aside with
/// those.
void check_list_to_strategy(boost::json::object& object);

/// Takes the strategy away where the list, which was put back, says the same, and the list where
/// the strategy became another one since.
void show_check_list(boost::json::object& object);

}  // namespace sluice::api
