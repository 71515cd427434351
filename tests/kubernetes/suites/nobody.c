/* nobody: no flavor is for anybody. It stands for a scheduler that a spec of Kueue's leaves out. */
#include <sluice/sluice.h>
#include <stdlib.h>
#include <string.h>

struct sluice_instance {
  int nothing;
};

/* [load] */
static int32_t create(const sluice_host_t* host, sluice_str_t config, sluice_instance_t** out,
                      const sluice_sink_t* error) {
  (void)host;
  (void)config;
  (void)error;
  *out = (sluice_instance_t*)calloc(1, sizeof(**out));
  return *out == NULL ? SLUICE_FAILED : SLUICE_OK;
}

static void destroy(sluice_instance_t* self) { free(self); }

/* [cycle] */
static int32_t filter(sluice_instance_t* self, const sluice_filter_query_t* query,
                      const sluice_filter_sink_t* out) {
  static const sluice_str_t reason = SLUICE_STR_INIT("the spec has no scheduler");
  static const sluice_str_t reserved = SLUICE_STR_INIT("QuotaReserved");
  const sluice_workload_ref_t workload = query->workload;
  sluice_str_t holds = {NULL, 0};
  uint32_t i;
  (void)self;
  workload.api->condition(workload.handle, reserved, &holds);
  if (holds.len == 4) return SLUICE_OK; /* True: the spec gave it quota with its own hands */
  for (i = 0; i < query->flavor_count; ++i) out->skip(out->context, i, reason);
  return SLUICE_OK;
}

static const void* extension(sluice_instance_t* self, sluice_str_t id) {
  static const char wanted[] = SLUICE_EXT_FLAVOR_FILTER;
  static const sluice_flavor_filter_t table = {sizeof(sluice_flavor_filter_t), 0, &filter, NULL};
  (void)self;
  return id.len == sizeof(wanted) - 1 && memcmp(id.ptr, wanted, id.len) == 0 ? &table : NULL;
}

SLUICE_METADATA("nobody", "0.1.0");
SLUICE_PROVIDES(flavor_filter, SLUICE_EXT_FLAVOR_FILTER);

const sluice_plugin_t* sluice_plugin_entry(uint32_t host_abi_major, uint32_t host_abi_minor) {
  static const sluice_plugin_t plugin = {sizeof(sluice_plugin_t),
                                         SLUICE_ABI_MAJOR,
                                         SLUICE_ABI_MINOR,
                                         0,
                                         SLUICE_STR_INIT("nobody"),
                                         SLUICE_STR_INIT("0.1.0"),
                                         SLUICE_STR_INIT("admits nobody"),
                                         SLUICE_STR_INIT("{\"type\":\"object\"}"),
                                         &create,
                                         NULL,
                                         NULL,
                                         &destroy,
                                         &extension};
  (void)host_abi_major;
  (void)host_abi_minor;
  return &plugin;
}
