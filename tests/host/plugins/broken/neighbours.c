/* Skips a flavor only when there are others left. */
#include "parts.h"
static int32_t filter(sluice_instance_t* self, const sluice_filter_query_t* query,
                      const sluice_filter_sink_t* out) {
  (void)self;
  if (query->flavor_count > 1) skip_first(query, out);
  return SLUICE_OK;
}
FILTER_TABLE(filter);
#define POINT SLUICE_EXT_FLAVOR_FILTER
#define TABLE filter_table
#include "skeleton.h"
