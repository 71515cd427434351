// The shape of a pod: what of its spec decides where it fits. Pods of a group that have one shape
// are one pod set.
//
// Pure functions, any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "sluice/cpp/json.hpp"

namespace pods {

/// Of an object, and of a label's value.
inline constexpr std::size_t kLongestName = 253, kLongestLabel = 63;

/// The name of the pod set: 8 hexadecimal digits. Two shapes may share one, see asks_of().
std::string role_of(const sluice::Json& pod_spec);

/// Of a pod or a container: requests, with the limits of what it requests nothing of, as API
/// servers put them there.
sluice::Json with_requests(sluice::Json holder);

/// What a workload has to know of pods that are not there yet.
sluice::Json shown_spec(const sluice::Json& pod_spec);

/// What is counted of the pod, as one text: who has the same asks for the same.
std::string asks_of(const sluice::Json& pod_spec);

/// The workload of a pod that is in no group: `pod-NAME-HASH`, as Kueue calls it.
std::string workload_name(std::string_view pod, std::string_view uid);
/// That of any other owner; `uid` may be empty.
std::string workload_name(std::string_view kind, std::string_view group, std::string_view name,
                          std::string_view uid, std::size_t longest);

}  // namespace pods
