/* sluice.h: everything of the C interface. Each header may also be included alone. */
#ifndef SLUICE_SLUICE_H
#define SLUICE_SLUICE_H

#include "abi.h"
#include "ext/flavor_filter.h"
#include "ext/flavor_search.h"
#include "ext/post_admit.h"
#include "ext/preemption_veto.h"
#include "ext/queue_watch.h"
#include "ext/schema.h"
#include "ext/timers.h"
#include "ext/validator.h"
#include "ext/workload_traits.h"
#include "metadata.h"
#include "svc/clock.h"
#include "svc/config.h"
#include "svc/events.h"
#include "svc/log.h"
#include "svc/metrics.h"
#include "svc/requeue.h"
#include "workload.h"

#endif
