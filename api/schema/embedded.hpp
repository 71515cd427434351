// The data files of this folder as texts.
//
// Made by the build (cmake/SluiceEmbed.cmake). Constants, any thread.
#pragma once

#include <span>
#include <string_view>

namespace sluice::api {

/// The named types that pod templates and metadata are made of (data/types.json).
std::string_view embedded_types();
/// What built-in kinds say of the fields of named types beyond their shape (data/attributes.json).
std::string_view embedded_attributes();
/// One text per core kind, or `{"kinds": […]}` for several.
std::span<const std::string_view> embedded_kinds();

}  // namespace sluice::api
