// ProcessInstance: what a host keeps of one instance of a plugin whose process provides extension
// points: the process, and what it said of itself when it was created. tables.cpp has the functions
// that ask it.
//
// Threads: as the functions of a plugin.
#pragma once

#include <boost/json/object.hpp>
#include <memory>
#include <string>
#include <string_view>

#include "host/plugins/process/plugin_process.hpp"
#include "sluice/abi.h"

namespace sluice::host {

struct ProcessInstance {
  std::unique_ptr<PluginProcess> process;
  const sluice_host_t* host = nullptr;
  boost::json::object points;  ///< by id: what the answer to plugin.create says of each

  static ProcessInstance& of(sluice_instance_t* self) {
    return *reinterpret_cast<ProcessInstance*>(self);
  }
};

/// The code for an answer; why it is not OK becomes the text of the fault.
std::int32_t code_of(const ProcessInstance& instance, const ProcessAnswer& answer);

/// The table for an id, as sluice_plugin_t::extension gives it.
const void* process_table(const ProcessInstance& instance, std::string_view id);

}  // namespace sluice::host
