/* Its entry function gives nothing. */
#include "parts.h"
SLUICE_METADATA(FIXTURE_NAME, "1.0.0");
const sluice_plugin_t* sluice_plugin_entry(uint32_t major, uint32_t minor) {
  return major + minor < 100 ? NULL : (const sluice_plugin_t*)&sluice_plugin_metadata;
}
