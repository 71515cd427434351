/* Takes only structs of exactly the size that it knows. */
#include "parts.h"
static int32_t filter(sluice_instance_t* self, const sluice_filter_query_t* query,
                      const sluice_filter_sink_t* out) {
  (void)self;
  (void)out;
  return query->size == sizeof(*query) ? SLUICE_OK : SLUICE_FAILED;
}
FILTER_TABLE(filter);
#define POINT SLUICE_EXT_FLAVOR_FILTER
#define TABLE filter_table
#include "skeleton.h"
