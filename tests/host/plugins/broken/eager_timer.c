/* Sets a timer before it is active. */
#include "parts.h"
#define OWN_CREATE
static int32_t create(const sluice_host_t* host, sluice_str_t config, sluice_instance_t** out,
                      const sluice_sink_t* error) {
  const sluice_clock_t* clock = (const sluice_clock_t*)service(host, SLUICE_SVC_CLOCK);
  (void)config;
  (void)error;
  if (clock != NULL) clock->set_timer(host, 1, clock->now(host) + 1);
  *out = (sluice_instance_t*)calloc(1, sizeof(void*));
  return SLUICE_OK;
}
#include "skeleton.h"
