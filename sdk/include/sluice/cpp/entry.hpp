// SLUICE_PLUGIN(Class, "name", "version"): makes a class a plugin.
//
// One such line per library. It writes the metadata section and the one exported function. The
// class is any class: its hooks are found by name (provides.hpp), it is made from `const
// sluice::Context&` or without arguments, and it may have
//   static constexpr std::string_view kConfigSchema  JSON Schema of its configuration
//   static constexpr std::string_view kDescription   one line
//   void activate(), void deactivate()
#pragma once

#include <memory>
#include <string_view>

#include "sluice/cpp/declares.hpp"
#include "sluice/cpp/thunks.hpp"
#include "sluice/metadata.h"

namespace sluice::detail {

template <typename T>
struct Root {
  using Self = Instance<T>;

  static std::int32_t create(const sluice_host_t* host, sluice_str_t config_json,
                             sluice_instance_t** out, const sluice_sink_t* error) noexcept {
    return guarded_start(error, [&] {
      const std::string_view text = to_view(config_json);
      auto self = std::make_unique<Self>(host, text.empty() ? Json::object() : Json::parse(text));
      *out = self.release()->handle();
    });
  }

  static std::int32_t activate(sluice_instance_t* self, const sluice_sink_t* error) noexcept {
    return guarded_start(error, [&] {
      if constexpr (HasActivate<T>) Self::of(self).object.activate();
    });
  }

  static std::int32_t deactivate(sluice_instance_t* self, const sluice_sink_t* error) noexcept {
    return guarded_start(error, [&] {
      if constexpr (HasDeactivate<T>) Self::of(self).object.deactivate();
    });
  }

  static void destroy(sluice_instance_t* self) noexcept { delete &Self::of(self); }

  static constexpr std::string_view config_schema() {
    if constexpr (requires { T::kConfigSchema; })
      return T::kConfigSchema;
    else
      return {};
  }
  static constexpr std::string_view description() {
    if constexpr (requires { T::kDescription; })
      return T::kDescription;
    else
      return {};
  }

  static sluice_plugin_t plugin(std::string_view name, std::string_view version) noexcept {
    static_assert(check_signatures<T>());
    return {sizeof(sluice_plugin_t),
            SLUICE_ABI_MAJOR,
            SLUICE_ABI_MINOR,
            0,
            to_abi(name),
            to_abi(version),
            to_abi(description()),
            to_abi(config_schema()),
            &create,
            &activate,
            &deactivate,
            &destroy,
            &Thunks<T>::extension};
  }
};

}  // namespace sluice::detail

#define SLUICE_PLUGIN(Class, plugin_name, plugin_version)                              \
  SLUICE_METADATA(plugin_name, plugin_version);                                        \
  static constexpr auto sluice_plugin_provides SLUICE_DECLARES_KEEP =                  \
      ::sluice::detail::provides_text<Class>();                                        \
  extern "C" SLUICE_EXPORT const sluice_plugin_t* sluice_plugin_entry(std::uint32_t,   \
                                                                      std::uint32_t) { \
    static const sluice_plugin_t plugin =                                              \
        ::sluice::detail::Root<Class>::plugin(plugin_name, plugin_version);            \
    return &plugin;                                                                    \
  }
