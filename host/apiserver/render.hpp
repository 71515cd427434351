// Renderer: stored objects as the texts that clients get: in the version of the URL, whole, as rows
// of a table, or as metadata only; alone, in a list, or as an event of a watch.
//
// Made once per backend, then only read: any thread. A hub object is put together from its stored
// texts without parsing; other versions are converted.
#pragma once

#include <boost/json/object.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "api/scheme/scheme.hpp"
#include "host/apiserver/form.hpp"
#include "host/apiserver/route.hpp"
#include "host/objects/store.hpp"
#include "host/rest/table.hpp"

namespace sluice::host {

/// What a list says about itself.
struct ListMeta {
  std::uint64_t version = 0;
  std::string next;           ///< token of the next page; empty: none
  std::size_t remaining = 0;  ///< 0: not said
};

class Renderer {
 public:
  explicit Renderer(const api::Scheme& scheme);

  /// One object as a whole answer.
  void append(const StoredObject& object, const Route& route, const Form& form,
              std::string& out) const;

  void begin_list(const Route& route, const Form& form, const ListMeta& meta,
                  std::string& out) const;
  void append_item(const StoredObject& object, const Route& route, const Form& form, bool first,
                   std::string& out) const;
  void end_list(std::string& out) const { out += "]}\n"; }

  /// One line of a watch. `type`: ADDED, MODIFIED, DELETED. `columns`: a table says which it has;
  /// only the first event of a watch has to.
  void append_event(std::string_view type, const StoredObject& object, const Route& route,
                    const Form& form, bool columns, std::string& out) const;
  /// `initial_end`: all initial events were sent.
  void append_bookmark(std::uint64_t version, bool initial_end, const Route& route,
                       const Form& form, std::string& out) const;

  /// The object in a version of its kind.
  void append_object(const StoredObject& object, std::string_view version, std::string& out) const;

 private:
  void append_partial(const StoredObject& object, const Form& form, std::string& out) const;
  void append_row(const StoredObject& object, const Route& route, const Form& form,
                  std::string& out) const;

  boost::json::object in_version(const StoredObject& object, std::string_view version) const;
  void append_table(const StoredObject& object, const Route& route, const Form& form, bool columns,
                    std::string& out) const;
  const TableFormat& format_of(const Route& route) const;

  const api::Scheme& scheme_;
  std::unordered_map<const api::KindInfo::Version*, TableFormat> formats_;
};

/// The stored metadata with the resourceVersion.
std::string metadata_text(const StoredObject& object);

/// An autoscaling/v1 Scale of the object.
std::string scale_text(const StoredObject& object);

}  // namespace sluice::host
