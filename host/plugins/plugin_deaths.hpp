// PluginDeaths: how often the host died inside which plugin, over restarts, in a small file beside
// the store.
//
// A plugin that took the host down twice starts in quarantine. A death counts for the file of the
// plugin that was loaded: a new one starts with a clean record; a reload (SIGHUP) forgets all. Used
// by one thread.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "host/plugins/crash_note.hpp"

namespace sluice::host {

class PluginDeaths {
 public:
  static constexpr int kDeathsToQuarantine = 2;

  /// What the folder of a store knows; nothing where it knows nothing, or where what it has is
  /// damaged.
  static PluginDeaths read(const std::filesystem::path& folder);

  void add(const PluginDeath& death);
  void forget() { all_.clear(); }
  Result<void> write(const std::filesystem::path& folder) const;

  /// Why the plugin of that file starts in quarantine; empty: it does not.
  std::string quarantine_of(std::string_view plugin, std::string_view sha256) const;

 private:
  struct Record {
    std::string sha256, last;
    int deaths = 0;
  };
  std::map<std::string, Record, std::less<>> all_;
};

}  // namespace sluice::host
