#include "host/plugins/plugin_deaths.hpp"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <fstream>
#include <system_error>

#include "api/json/json.hpp"
#include "host/base/files.hpp"
#include "host/plugins/text_gate.hpp"

namespace sluice::host {

namespace {

namespace json = boost::json;
namespace fs = std::filesystem;

constexpr const char* kFile = "plugin-deaths.json";

}  // namespace

PluginDeaths PluginDeaths::read(const fs::path& folder) {
  PluginDeaths out;
  const std::string text = read_file(folder / kFile).value_or("");
  boost::system::error_code error;
  const json::value value = json::parse(text, error);
  const json::object* plugins =
      value.is_object() ? api::find_object(value.get_object(), "plugins") : nullptr;
  if (error || plugins == nullptr) return out;
  for (const auto& [name, record] : *plugins) {
    if (!record.is_object()) continue;
    const json::object& of = record.get_object();
    out.all_[std::string(name)] = {std::string(api::find_text(of, "sha256")),
                                   std::string(api::find_text(of, "last")),
                                   static_cast<int>(api::find_int(of, "deaths").value_or(0))};
  }
  return out;
}

void PluginDeaths::add(const PluginDeath& death) {
  Record& record = all_[death.plugin];
  if (record.sha256 != death.sha256) record.deaths = 0;
  record = {death.sha256, death.how, record.deaths + 1};
}

Result<void> PluginDeaths::write(const fs::path& folder) const {
  json::object plugins;
  for (const auto& [name, record] : all_)
    plugins[name] = {{"sha256", record.sha256}, {"deaths", record.deaths}, {"last", record.last}};
  const fs::path file = folder / kFile;
  const fs::path fresh = folder / (std::string(kFile) + ".new");
  std::error_code error;
  if (all_.empty()) {
    fs::remove(file, error);
    return {};
  }
  std::ofstream out(fresh, std::ios::binary | std::ios::trunc);
  out << json::serialize(json::object{{"plugins", plugins}}) << '\n';
  out.close();
  if (out) fs::rename(fresh, file, error);
  if (!out || error) return Error{file.string() + ": cannot be written"};
  return {};
}

std::string PluginDeaths::quarantine_of(std::string_view plugin, std::string_view sha256) const {
  const auto found = all_.find(plugin);
  if (found == all_.end() || found->second.sha256 != sha256 ||
      found->second.deaths < kDeathsToQuarantine)
    return {};
  return fmt::format(
      "the host died inside it {} times, the last time in {}; it is called no more until its file "
      "is replaced or the host is reloaded (SIGHUP)",
      found->second.deaths, found->second.last);
}

}  // namespace sluice::host
