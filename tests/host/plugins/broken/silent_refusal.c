/* create() refuses what it does not like without a word. */
#include "parts.h"
#define OWN_CREATE
static int32_t create(const sluice_host_t* host, sluice_str_t config, sluice_instance_t** out,
                      const sluice_sink_t* error) {
  (void)host;
  (void)error;
  if (!is(config, "{}")) return SLUICE_REFUSED;
  *out = (sluice_instance_t*)calloc(1, sizeof(void*));
  return SLUICE_OK;
}
#include "skeleton.h"
