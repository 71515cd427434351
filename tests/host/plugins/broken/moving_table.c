/* Its table is another one each time. */
#include "parts.h"
#define OWN_EXTENSION
static int32_t filter(sluice_instance_t* self, const sluice_filter_query_t* query,
                      const sluice_filter_sink_t* out) {
  (void)self;
  (void)query;
  (void)out;
  return SLUICE_OK;
}
static const void* extension(sluice_instance_t* self, sluice_str_t id) {
  static const sluice_flavor_filter_t tables[2] = {
      {sizeof(sluice_flavor_filter_t), 0, &filter, NULL},
      {sizeof(sluice_flavor_filter_t), 0, &filter, NULL}};
  static unsigned calls = 0;
  (void)self;
  return is(id, SLUICE_EXT_FLAVOR_FILTER) ? &tables[calls++ % 2] : NULL;
}
#include "skeleton.h"
