/* Keeps what it works on in a place that all threads share. */
#include <unistd.h>

#include "parts.h"
static uint32_t first_of_query; /* who comes while another is here overwrites it */
static int32_t filter(sluice_instance_t* self, const sluice_filter_query_t* query,
                      const sluice_filter_sink_t* out) {
  const sluice_str_t name = query->workload.api->name(query->workload.handle);
  (void)self;
  __atomic_store_n(&first_of_query, (uint32_t)(name.len % 2), __ATOMIC_RELAXED);
  usleep(200);
  if (query->flavor_count > 0 && __atomic_load_n(&first_of_query, __ATOMIC_RELAXED) == 0)
    skip_first(query, out);
  return SLUICE_OK;
}
FILTER_TABLE(filter);
#define POINT SLUICE_EXT_FLAVOR_FILTER
#define TABLE filter_table
#include "skeleton.h"
