/* The first instance answers differently than all others. */
#include "parts.h"
#define OWN_INSTANCE
#define OWN_CREATE
struct sluice_instance {
  unsigned number;
};
static int32_t create(const sluice_host_t* host, sluice_str_t config, sluice_instance_t** out,
                      const sluice_sink_t* error) {
  static unsigned made = 0;
  sluice_instance_t* self = (sluice_instance_t*)malloc(sizeof(*self));
  (void)host;
  (void)config;
  (void)error;
  if (self == NULL) return SLUICE_FAILED;
  self->number = made++;
  *out = self;
  return SLUICE_OK;
}
static int32_t filter(sluice_instance_t* self, const sluice_filter_query_t* query,
                      const sluice_filter_sink_t* out) {
  if (self->number == 0) skip_first(query, out);
  return SLUICE_OK;
}
FILTER_TABLE(filter);
#define POINT SLUICE_EXT_FLAVOR_FILTER
#define TABLE filter_table
#include "skeleton.h"
