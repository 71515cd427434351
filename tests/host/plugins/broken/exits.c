/* Ends the process when it does not know what to do. */
#include "parts.h"
static int32_t veto(sluice_instance_t* self, const sluice_veto_query_t* query,
                    const sluice_veto_sink_t* out) {
  (void)self;
  (void)out;
  if (query->candidate_count == 0) _Exit(3);
  return SLUICE_OK;
}
static const sluice_preemption_veto_t vetoes = {sizeof(sluice_preemption_veto_t), 0, &veto};
#define POINT SLUICE_EXT_PREEMPTION_VETO
#define TABLE vetoes
#include "skeleton.h"
