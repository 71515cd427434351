// JobPages: the kinds of jobs that objects JobKind declare, as a scheme serves them.
//
// A scheme is complete before a store is read or an object is taken, so pages are collected first;
// another set of pages needs another scheme. Pure functions, any thread.
#pragma once

#include <boost/json/object.hpp>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/scheme/scheme.hpp"

namespace sluice::host {

/// One page, by the name of its JobKind.
struct JobPage {
  std::string text;     ///< its spec, in a form that is equal for equal specs
  std::string problem;  ///< why its kind is not served; empty: it is
  /// What it says, not what came of it.
  bool operator==(const JobPage& other) const { return text == other.text; }
};
using JobPages = std::map<std::string, JobPage, std::less<>>;

inline constexpr std::string_view kJobKindVersion = "sluice.dev/v1alpha1";

/// The pages of objects JobKind, which may come from anywhere: nothing of them was checked.
JobPages pages_of(const std::vector<boost::json::object>& job_kinds);
/// Has `scheme` serve the kinds, in the order of their names, and notes what cannot be served. What
/// has a problem already is left out.
void declare_kinds(api::Scheme& scheme, JobPages& pages);

/// Why the kind of this page cannot be served beside what `scheme` serves already, the same page
/// aside; empty: it can.
std::string refuses_page(const api::Scheme& scheme, std::string_view name,
                         const boost::json::object& spec);

/// The JobKind that declares this kind; empty: it is none that a page declares.
std::string_view page_of(const api::KindInfo& kind);

}  // namespace sluice::host
