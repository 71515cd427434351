// Reading and writing boost::json values without exceptions.
//
// The readers answer "absent" for a missing key and for a value of another type. Pure functions,
// any thread.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/json/steps.hpp"
#include "core/types/meta.hpp"
#include "core/types/quantity.hpp"

namespace sluice::api {

inline std::string_view view(const boost::json::string& text) { return {text.data(), text.size()}; }
inline std::string_view view(boost::json::string_view text) { return {text.data(), text.size()}; }
/// Never a null pointer: Boost.JSON copies keys and texts with memcpy, to which null is undefined
/// even for no bytes.
inline boost::json::string_view json_view(std::string_view text) {
  return {text.data() != nullptr ? text.data() : "", text.size()};
}

/// nullptr when absent.
const boost::json::value* find(const boost::json::object& object, std::string_view key);
const boost::json::object* find_object(const boost::json::object& object, std::string_view key);
const boost::json::array* find_array(const boost::json::object& object, std::string_view key);
boost::json::object* find_object(boost::json::object& object, std::string_view key);
boost::json::array* find_array(boost::json::object& object, std::string_view key);

/// Empty when absent.
std::string_view find_text(const boost::json::object& object, std::string_view key);
std::optional<std::int64_t> find_int(const boost::json::object& object, std::string_view key);
/// Values beyond int32 are cut to its range.
std::optional<std::int32_t> find_int32(const boost::json::object& object, std::string_view key);
bool find_bool(const boost::json::object& object, std::string_view key, bool absent);
std::optional<Time> find_time(const boost::json::object& object, std::string_view key);
/// A map of texts; entries that are no text are left out.
LabelMap find_labels(const boost::json::object& object, std::string_view key);

/// An integer, or a float without fraction, within int64.
std::optional<std::int64_t> as_int(const boost::json::value& value);
/// A quantity as text or number; the error is that of Quantity::parse.
Result<Quantity> as_quantity(const boost::json::value& value);
/// Zero when absent or malformed.
Quantity quantity_or_zero(const boost::json::value& value);

/// The texts of a list or set, in its order.
template <typename Texts>
boost::json::array to_array(const Texts& texts) {
  boost::json::array out;
  for (const auto& each : texts) out.emplace_back(json_view(each));
  return out;
}

/// Appends `value` as compact JSON.
void append_json(const boost::json::value& value, std::string& out);
void append_json(const boost::json::object& object, std::string& out);
/// With U+FFFD for each byte that is no UTF-8: a document can be read again, whatever is in it.
void append_json_text(std::string_view text, std::string& out);
/// The same with the keys of all objects in order: equal contents give equal texts.
void append_canonical_json(const boost::json::value& value, std::string& out);
std::string to_json(const boost::json::value& value);

/// What parse() of the JSON library does, as deep as requests may nest: by itself it stops at 32
/// levels, and what was stored has to be read again.
boost::json::value parse_deep(std::string_view text, boost::json::error_code& error,
                              boost::json::storage_ptr storage = {});
/// The same where only an object will do; nullopt: the text is none.
std::optional<boost::json::object> parse_object(std::string_view text);

/// The length of the compact JSON of `value`; beyond `most` somewhere above it, without looking
/// further.
std::size_t json_bytes(const boost::json::value& value, std::size_t most);
std::size_t json_bytes(const boost::json::object& object, std::size_t most);

/// Keeps the members for which keep(member) says so, in their order. O(n): erasing one member of an
/// object in order moves all that follow it.
template <typename Keep>
void keep_members(boost::json::object& object, Keep keep) {
  boost::json::object kept(object.storage());
  kept.reserve(object.size());
  for (auto& member : object) {
    Steps::count();
    if (keep(member)) kept.emplace(member.key(), std::move(member.value()));
  }
  object = std::move(kept);
}

/// The entries of a list by their value, to be asked whether there is an equal one. O(n log n) to
/// make, O(log n) to ask; numbers are equal when their texts are.
class EntrySet {
 public:
  /// nullptr: no entries.
  explicit EntrySet(const boost::json::array* list);
  bool contains(const boost::json::value& entry) const;

 private:
  std::vector<std::string> texts_;  // in order
};

}  // namespace sluice::api
