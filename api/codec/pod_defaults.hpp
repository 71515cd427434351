// PodDefaults: what becomes of a pod's resources when it is made of its template. Containers get
// what LimitRanges of the namespace give those that say nothing, pods the overhead of their
// RuntimeClass; and a pod beyond a LimitRange is not made at all.
//
// Whoever makes the pods does that (the API server of a cluster); quota has to be counted for the
// pods that come, so templates are read by what was put here. Any thread while nobody changes it.
#pragma once

#include <boost/json/object.hpp>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "api/codec/codec.hpp"
#include "core/types/quantity.hpp"

namespace sluice::api {

class PodDefaults {
 public:
  /// v1 LimitRange, in place of the one of that name.
  void put_limit_range(std::string_view ns, std::string_view name,
                       const boost::json::object& object);
  void erase_limit_range(std::string_view ns, std::string_view name);
  /// node.k8s.io/v1 RuntimeClass, in place of the one of that name.
  void put_runtime_class(std::string_view name, const boost::json::object& object);
  void erase_runtime_class(std::string_view name);

  /// Whether a pod of this namespace may differ from its template.
  bool concern(std::string_view ns) const {
    return !overheads_.empty() || ranges_.find(ns) != ranges_.end();
  }
  /// core/v1 PodTemplateSpec → the decoded form of the pods that are made of it there.
  std::shared_ptr<const PodTemplate> read(std::string_view ns,
                                          const boost::json::object& pod_template,
                                          PodTemplateCache& templates) const;

 private:
  using Amounts = std::map<std::string, Quantity, std::less<>>;
  /// Limits of one type; of several LimitRanges the narrowest, and the first default.
  struct Range {
    Amounts max, min, limits, requests;
    void narrow(const Range& other);
  };
  struct Ranges {
    Range container, pod;
  };

  static Range range_of(const boost::json::object& limits);
  static Ranges ranges_of(const boost::json::object& limit_range);
  Ranges ranges_in(std::string_view ns) const;
  static void fill(const Range& range, boost::json::object& container);
  static std::string beyond(const Range& range, const boost::json::object& container);
  static std::string beyond(const Range& range, const PodTemplate& pod);
  static std::string refusal(const Ranges& ranges, const boost::json::object& spec,
                             const PodTemplate& pod);

  std::map<std::string, std::map<std::string, Ranges, std::less<>>, std::less<>>
      ranges_;                                                         // by name
  std::map<std::string, boost::json::object, std::less<>> overheads_;  // of classes that have any
};

}  // namespace sluice::api
