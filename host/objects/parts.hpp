// The short ways of api/json/parts.hpp to read objects, under the names that the host uses. Pure
// functions, any thread.
#pragma once

#include "api/json/parts.hpp"  // IWYU pragma: export

namespace sluice::host {

using api::array_of;
using api::condition_says;
using api::find_condition;
using api::for_each_object;
using api::has_condition;
using api::holds_text;
using api::identifier_in;
using api::keep_transition;
using api::key_of;
using api::make_condition;
using api::object_of;
using api::part;
using api::put_condition;
using api::text_in;
using api::texts_in;

}  // namespace sluice::host
