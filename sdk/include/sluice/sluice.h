/* sluice.h: everything of the C interface.
 *
 * Each header may also be included alone. */
#ifndef SLUICE_SLUICE_H
#define SLUICE_SLUICE_H

#include "sluice/abi.h"
#include "sluice/capacity.h"
#include "sluice/ext/check_controller.h"
#include "sluice/ext/controller.h"
#include "sluice/ext/flavor_filter.h"
#include "sluice/ext/flavor_search.h"
#include "sluice/ext/job_mapping.h"
#include "sluice/ext/pod_gate.h"
#include "sluice/ext/post_admit.h"
#include "sluice/ext/preemption_veto.h"
#include "sluice/ext/queue_order.h"
#include "sluice/ext/queue_watch.h"
#include "sluice/ext/schema.h"
#include "sluice/ext/timers.h"
#include "sluice/ext/validator.h"
#include "sluice/ext/workload_traits.h"
#include "sluice/job.h"
#include "sluice/metadata.h"
#include "sluice/svc/check_reporter.h"
#include "sluice/svc/clock.h"
#include "sluice/svc/config.h"
#include "sluice/svc/events.h"
#include "sluice/svc/log.h"
#include "sluice/svc/metrics.h"
#include "sluice/svc/objects.h"
#include "sluice/svc/requeue.h"
#include "sluice/svc/state.h"
#include "sluice/workload.h"

#endif
