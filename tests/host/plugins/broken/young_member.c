/* Reads a member that an older host does not have, without looking at the size. */
#include "parts.h"
static int32_t filter(sluice_instance_t* self, const sluice_filter_query_t* query,
                      const sluice_filter_sink_t* out) {
  int32_t count = 0;
  (void)self;
  (void)out;
  query->workload.api->admitted_count(query->workload.handle, query->pod_set, &count);
  return SLUICE_OK;
}
FILTER_TABLE(filter);
#define POINT SLUICE_EXT_FLAVOR_FILTER
#define TABLE filter_table
#include "skeleton.h"
