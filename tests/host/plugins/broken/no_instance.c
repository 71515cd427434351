/* create() answers OK and gives no instance. */
#include "parts.h"
#define OWN_CREATE
static int32_t create(const sluice_host_t* host, sluice_str_t config, sluice_instance_t** out,
                      const sluice_sink_t* error) {
  (void)host;
  (void)config;
  (void)error;
  *out = NULL;
  return SLUICE_OK;
}
#include "skeleton.h"
