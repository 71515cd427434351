// Looking into compact JSON texts of our own (StoredObject's parts) without parsing them.
//
// The texts were written by append_json(): valid, no blanks. Pure functions, any thread; views
// point into the text. O(bytes up to the member).
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace sluice::api {

/// The text of the value at `key` of the object `text`; empty when there is none, or no object.
std::string_view member_text(std::string_view text, std::string_view key);

/// Through objects: `involvedObject.name`. Keys with dots in them cannot be named so.
std::string_view member_at(std::string_view text, std::string_view dotted_path);

/// A scalar as a text: strings unescaped, numbers and booleans as written; empty for null, objects,
/// lists and an empty text. `scratch` keeps what had to be unescaped.
std::string_view scalar_text(std::string_view value, std::string& scratch);

/// The scalar at `key` of the object `text`, as scalar_text() gives it.
std::string text_at(std::string_view text, std::string_view key);

/// Calls `take` with each key (unescaped) and value text of the object until it returns false.
void each_member(std::string_view text,
                 const std::function<bool(std::string_view key, std::string_view value)>& take);

/// Calls `take` with the text of each element of the list `text`; never when it is no list.
void each_element(std::string_view text, const std::function<void(std::string_view value)>& take);

}  // namespace sluice::api
