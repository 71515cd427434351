/* Ending one instance ends what another answers with. */
#include "parts.h"
#define OWN_DESTROY
static int alive = 1;
static void destroy(sluice_instance_t* self) {
  free(self);
  alive = 0;
}
static int32_t filter(sluice_instance_t* self, const sluice_filter_query_t* query,
                      const sluice_filter_sink_t* out) {
  (void)self;
  if (alive) skip_first(query, out);
  return SLUICE_OK;
}
FILTER_TABLE(filter);
#define POINT SLUICE_EXT_FLAVOR_FILTER
#define TABLE filter_table
#include "skeleton.h"
