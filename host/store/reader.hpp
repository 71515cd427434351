// Reading a store on disk beside the host that may have it open: opening it, and rows as objects.
// Pure functions of the files, any thread.
#pragma once

#include <boost/json/object.hpp>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/scheme/scheme.hpp"
#include "core/base/result.hpp"
#include "host/store/journal.hpp"
#include "host/store/sqlite.hpp"

namespace sluice::host {

/// Opens the store at `path`, a folder or a database file, as of one moment. `file`: which it is.
Result<Database> open_store(const std::string& path, std::string& file);

/// The parts of a row as one object, without apiVersion, kind and hidden fields.
Result<boost::json::object> object_of(const JournalRow& row);

/// All objects of one kind, `group/Kind`, as object_of() gives them; none where there is no store.
Result<std::vector<boost::json::object>> objects_of_kind(const std::string& path,
                                                         std::string_view kind);

/// Kinds by their names in a journal.
std::map<std::string, const api::KindInfo*, std::less<>> kinds_by_name(const api::Scheme& scheme);

}  // namespace sluice::host
