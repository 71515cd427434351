/* Its reason holds a user's text, cut wherever the 17th byte is. */
#include "parts.h"
static int32_t filter(sluice_instance_t* self, const sluice_filter_query_t* query,
                      const sluice_filter_sink_t* out) {
  const sluice_workload_ref_t w = query->workload;
  sluice_str_t dataset = {NULL, 0};
  (void)self;
  if (query->flavor_count == 0 || !w.api->annotation(w.handle, text_of("dataset"), &dataset))
    return SLUICE_OK;
  if (dataset.len > 17) dataset.len = 17;
  out->skip(out->context, 0, dataset);
  return SLUICE_OK;
}
FILTER_TABLE(filter);
#define POINT SLUICE_EXT_FLAVOR_FILTER
#define TABLE filter_table
#include "skeleton.h"
