// Decoders of parts that several kinds share.
//
// For codecs, schemas and rules; pure functions, any thread.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/types/kinds.hpp"

namespace sluice::api {

/// The member of this name where it is an object; else an empty one.
const boost::json::object& find_part(const boost::json::object& object, std::string_view key);

/// Absent and null alike: nullopt.
std::optional<Quantity> optional_quantity(const boost::json::object& object, std::string_view key);

/// A text, or a list of texts: what else is in it is left out.
std::vector<std::string> one_or_more_texts(const boost::json::object& object, std::string_view key);

/// Each takes the array, or nullptr for an absent one.
std::vector<std::string> decode_texts(const boost::json::array* from);
std::vector<Toleration> decode_tolerations(const boost::json::array* from);
std::vector<Taint> decode_taints(const boost::json::array* from);
std::vector<ResourceGroup> decode_resource_groups(const boost::json::array* from);
LabelSelector decode_selector(const boost::json::object& from);
StopPolicy decode_stop_policy(std::string_view name);

}  // namespace sluice::api
