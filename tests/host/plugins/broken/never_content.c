/* Has the job made anew each time it is asked. */
#include "parts.h"
static int32_t plan(sluice_instance_t* self, const sluice_job_query_t* query,
                    const sluice_job_plan_sink_t* out) {
  (void)self;
  (void)query;
  out->recreate(out->context);
  return SLUICE_OK;
}
static const sluice_job_mapping_t mapping = {sizeof(sluice_job_mapping_t), 0, &plan};
#define POINT SLUICE_EXT_JOB_MAPPING
#define TABLE mapping
#include "skeleton.h"
