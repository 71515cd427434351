/* post-admit/1: is notified of what was decided, after it was committed.
 *
 * Every plugin that provides it gets all notifications that it wants (events), in order of
 * `sequence`, at least once: after a start those of the present state come (again), RESERVED or
 * ADMITTED with the reason `PresentState`, before the first cycle; and a call that answered
 * SLUICE_RETRY or failed is repeated (with growing pauses, a few times; then the host gives up and
 * shows it). So expect notifications that were seen before. What a plugin writes when it is
 * notified of a workload that it claims (workload-traits/1) is in the commit of the decision. A
 * plugin's failure never undoes a decision. */
#ifndef SLUICE_EXT_POST_ADMIT_H
#define SLUICE_EXT_POST_ADMIT_H

#include "sluice/abi.h"
#include "sluice/workload.h"

#define SLUICE_EXT_POST_ADMIT "post-admit/1"

SLUICE_EXTERN_C_BEGIN

/* Ignore values that you do not know: more may come. */
enum {
  SLUICE_EVENT_RESERVED = 0,
  SLUICE_EVENT_PREEMPTING = 1,          /* it issued preemptions; `others` are the victims */
  SLUICE_EVENT_WAITING_FOR_VICTIMS = 2, /* it waits for preemptions that were issued */
  SLUICE_EVENT_ADMITTED = 3,
  SLUICE_EVENT_RESERVATION_LOST = 4,
  SLUICE_EVENT_EVICTED = 5, /* with the reason; `Deleted`: it held quota and is gone */
  SLUICE_EVENT_DEACTIVATED = 6,
  SLUICE_EVENT_FINISHED = 7
};

typedef struct sluice_notification {
  uint32_t size;
  int32_t event;
  uint64_t sequence;
  sluice_workload_ref_t workload;
  sluice_str_t reason;
  uint64_t other_count;
  const sluice_str_t* others; /* NAMESPACE/NAME */
} sluice_notification_t;

typedef struct sluice_post_admit {
  uint32_t size;
  uint32_t reserved;
  /* [control] */
  int32_t (*notify)(sluice_instance_t* self, const sluice_notification_t* notification);
  /* Writes of which events it wants to be told, one per line: the name without SLUICE_EVENT_, as
   * one word (`Admitted`, `ReservationLost`); `claimed` behind it: only of workloads that the
   * plugin claims (workload-traits/1). NULL, or no line: of all events of all workloads. Asked
   * once; what it leaves out costs nothing. A line that the host does not understand is an error.
   * [load] */
  int32_t (*events)(sluice_instance_t* self, const sluice_sink_t* out);
} sluice_post_admit_t;

SLUICE_EXTERN_C_END

#endif
