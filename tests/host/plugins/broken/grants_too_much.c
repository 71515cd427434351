/* Grants pods to a pod set that there is not. */
#include "parts.h"
static int32_t gates(sluice_instance_t* self, const sluice_job_query_t* query,
                     const sluice_sink_t* out) {
  (void)self;
  (void)query;
  (void)out;
  return SLUICE_OK;
}
static int32_t granted(sluice_instance_t* self, const sluice_job_query_t* query,
                       const sluice_grant_sink_t* out) {
  (void)self;
  out->grant(out->context, query->pod_set_count, 1);
  return SLUICE_OK;
}
static const sluice_pod_gate_t gate = {sizeof(sluice_pod_gate_t), 0, &gates, &granted};
#define POINT SLUICE_EXT_POD_GATE
#define TABLE gate
#include "skeleton.h"
