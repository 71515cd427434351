/* create() fails with any configuration. */
#include "parts.h"
#define OWN_CREATE
static int32_t create(const sluice_host_t* host, sluice_str_t config, sluice_instance_t** out,
                      const sluice_sink_t* error) {
  (void)host;
  (void)config;
  (void)out;
  error->write(error->context, text_of("no licence"));
  return SLUICE_FAILED;
}
#include "skeleton.h"
