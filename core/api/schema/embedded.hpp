// The data files of this folder as texts.
//
// Made by the build (cmake/SluiceEmbed.cmake). Constants, any thread.
#pragma once

#include <span>
#include <string_view>

namespace sluice::api {

/// The named types that pod templates and metadata are made of (data/types.json).
std::string_view embedded_types();
/// One text per core kind.
std::span<const std::string_view> embedded_kinds();

}  // namespace sluice::api
