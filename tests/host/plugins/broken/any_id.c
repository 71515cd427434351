/* Looks at the beginning of an id only, so it claims points of the future. */
#include "parts.h"
#define OWN_EXTENSION
static int32_t filter(sluice_instance_t* self, const sluice_filter_query_t* query,
                      const sluice_filter_sink_t* out) {
  (void)self;
  (void)query;
  (void)out;
  return SLUICE_OK;
}
FILTER_TABLE(filter);
static const void* extension(sluice_instance_t* self, sluice_str_t id) {
  (void)self;
  return id.len >= 13 && memcmp(id.ptr, "flavor-filter", 13) == 0 ? &filter_table : NULL;
}
#include "skeleton.h"
