// Marks: annotations and labels in which the host and its plugins remember what they decided: which
// workload takes another's place, what a job was started with, which pod set a pod belongs to.
//
// The host relies on them, so only the system writes them: a user's write neither sets, changes nor
// removes one (docs/access.md lists them all). What is a mark: every name in a domain of Sluice but
// those that are for users, and what the kind's schema lists. Pure functions, any thread.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "api/scheme/scheme.hpp"
#include "sluice/cpp/marks.hpp"

namespace sluice::host {

/// The annotation with the creator of a workload, or of the job that it is of.
using mark::kCreatedBy;

bool is_mark(const api::KindInfo& kind, std::string_view name);

/// Of an object that a user creates: without marks. A claim stays: all it does is to make its
/// workload wait for the plugin that it names. `ignored` gets a sentence for each that went.
void drop_marks(const api::KindInfo& kind, boost::json::object& object,
                std::vector<std::string>* ignored);

/// Notes the creator of the object, where that is a job or its kind lists the mark.
void mark_creator(const api::KindInfo& kind, std::string_view user, boost::json::object& object);

/// The reverse, of an object that passes once more on the way to where it is stored: what was noted
/// of this user goes.
void forget_creator(std::string_view user, boost::json::object& object);

/// Of a user's update: the marks are those of `before`. `ignored` gets a sentence for each that the
/// user wanted to set or change; leaving one out is no such wish.
void keep_marks(const api::KindInfo& kind, const boost::json::object& before,
                boost::json::object& after, std::vector<std::string>* ignored);

/// Whether this plugin may set the mark in what it makes of an object, or has the host make: its
/// own schema lists it for the kind, or it is in the domain `PLUGIN.sluice.dev`. Who created an
/// object only the host says; a claim is for keep_marks_of_others().
bool is_mark_of(const api::KindInfo& kind, std::string_view plugin, std::string_view name);

/// Of what a plugin made of `before`: marks that are not its own are as they were. It may add a
/// claim of its own.
void keep_marks_of_others(const api::KindInfo& kind, std::string_view plugin,
                          const boost::json::object& before, boost::json::object& after);

}  // namespace sluice::host
