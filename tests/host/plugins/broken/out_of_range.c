/* Skips a flavor that it was not asked about. */
#include "parts.h"
static int32_t filter(sluice_instance_t* self, const sluice_filter_query_t* query,
                      const sluice_filter_sink_t* out) {
  (void)self;
  out->skip(out->context, query->flavor_count, text_of("one too many"));
  return SLUICE_OK;
}
FILTER_TABLE(filter);
#define POINT SLUICE_EXT_FLAVOR_FILTER
#define TABLE filter_table
#include "skeleton.h"
