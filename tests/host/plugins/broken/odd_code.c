/* create() answers a code that there is not when it does not like its configuration. */
#include "parts.h"
#define OWN_CREATE
static int32_t create(const sluice_host_t* host, sluice_str_t config, sluice_instance_t** out,
                      const sluice_sink_t* error) {
  (void)host;
  (void)error;
  if (!is(config, "{}")) return 42;
  *out = (sluice_instance_t*)calloc(1, sizeof(void*));
  return SLUICE_OK;
}
#include "skeleton.h"
