/* Spot capacity only for pod sets of at most `maxPods` pods. The same hook as in ../flavor-filter,
 * in plain C: a table of functions per extension point, found by id. */
#include <sluice/sluice.h>
#include <stdlib.h>
#include <string.h>

struct sluice_instance {
  int64_t max_pods;
};

static int equal(sluice_str_t text, const char* other) {
  return text.len == strlen(other) && memcmp(text.ptr, other, text.len) == 0;
}

static int32_t create(const sluice_host_t* host, sluice_str_t config, sluice_instance_t** out,
                      const sluice_sink_t* error) {
  static const sluice_str_t service = SLUICE_STR_INIT(SLUICE_SVC_CONFIG);
  static const sluice_str_t max_pods = SLUICE_STR_INIT("/maxPods");
  static const sluice_str_t no_memory = SLUICE_STR_INIT("out of memory");
  const sluice_config_t* settings = (const sluice_config_t*)host->service(host, service);
  sluice_instance_t* self = (sluice_instance_t*)malloc(sizeof(*self));
  (void)config; /* the same settings as JSON, for those who have a parser */
  if (self == NULL) {
    error->write(error->context, no_memory);
    return SLUICE_FAILED;
  }
  self->max_pods = 4;
  if (settings != NULL) settings->get_int(host, max_pods, &self->max_pods);
  *out = self;
  return SLUICE_OK;
}

static void destroy(sluice_instance_t* self) { free(self); }

static int32_t filter(sluice_instance_t* self, const sluice_filter_query_t* query,
                      const sluice_filter_sink_t* out) {
  static const sluice_str_t reason = SLUICE_STR_INIT("spot is for small pod sets only");
  const sluice_workload_ref_t workload = query->workload;
  uint32_t i;
  if (workload.api->pod_set_count(workload.handle, query->pod_set) <= self->max_pods)
    return SLUICE_OK;
  for (i = 0; i < query->flavor_count; ++i)
    if (query->flavors[i].len >= 4 && memcmp(query->flavors[i].ptr, "spot", 4) == 0)
      out->skip(out->context, i, reason);
  return SLUICE_OK;
}

static const void* extension(sluice_instance_t* self, sluice_str_t id) {
  /* No shape key: the number of pods is part of every workload's shape already. */
  static const sluice_flavor_filter_t table = {sizeof(sluice_flavor_filter_t), 0, &filter, NULL};
  (void)self;
  return equal(id, SLUICE_EXT_FLAVOR_FILTER) ? &table : NULL;
}

SLUICE_METADATA("small-jobs-on-spot", "1.0.0");
SLUICE_PROVIDES(flavor_filter, SLUICE_EXT_FLAVOR_FILTER);

const sluice_plugin_t* sluice_plugin_entry(uint32_t host_abi_major, uint32_t host_abi_minor) {
  static const sluice_plugin_t plugin = {
      sizeof(sluice_plugin_t),
      SLUICE_ABI_MAJOR,
      SLUICE_ABI_MINOR,
      0,
      SLUICE_STR_INIT("small-jobs-on-spot"),
      SLUICE_STR_INIT("1.0.0"),
      SLUICE_STR_INIT("keeps large pod sets off spot capacity"),
      SLUICE_STR_INIT("{\"type\":\"object\",\"properties\":{\"maxPods\":{\"type\":\"integer\","
                      "\"minimum\":0,\"default\":4}}}"),
      &create,
      NULL, /* nothing to do when it is activated */
      NULL, /* or deactivated */
      &destroy,
      &extension};
  (void)host_abi_major;
  (void)host_abi_minor;
  return &plugin;
}
