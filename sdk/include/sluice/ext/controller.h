/* controller/1: keeps objects of the kinds that it watches in line with other objects.
 *
 * reconcile() is called for each object of those kinds: at start, after each change (its own
 * changes too), when the time that it asked for has come, and again after a failure, with growing
 * pauses (1 s, 2 s, … 5 min). It is given a name, not a change: look at what is there now, through
 * svc/objects.h, and do what is missing. An object that is not there any more was deleted.
 *
 * All writes of one call take effect together when it answers SLUICE_OK, and none when it fails.
 *
 * For a plugin that follows objects of other places (svc/remotes.h) it is called for those too. */
#ifndef SLUICE_EXT_CONTROLLER_H
#define SLUICE_EXT_CONTROLLER_H

#include "sluice/abi.h"

#define SLUICE_EXT_CONTROLLER "controller/1"

SLUICE_EXTERN_C_BEGIN

/* Which object is to be looked at. */
typedef struct sluice_reconcile {
  uint32_t size;
  uint32_t reserved;
  sluice_str_t api_version; /* as kinds() named it */
  sluice_str_t kind;
  sluice_str_t namespace_of; /* empty for cluster-wide kinds */
  sluice_str_t name;
  /* Empty: an object of this host. Else of this remote, its kind as named to svc/remotes.h; with an
   * empty kind the remote itself. */
  sluice_str_t remote;
} sluice_reconcile_t;

/* For `again_after_ms`: at once, after what else is due; the controller goes on in pieces. */
enum { SLUICE_AGAIN_AT_ONCE = -1 };

typedef struct sluice_controller {
  uint32_t size;
  uint32_t reserved;
  /* Writes the kinds that it watches, one `GROUP/VERSION KIND` (or `VERSION KIND`) per line. A kind
   * that this host does not have is left out, with a warning. Behind the kind may stand:
   *   has:FIELD  only objects that have the field (`has:spec.x`), now or before the change
   *   label:SEL  only objects whose labels the selector SEL matches (`label:a=b`, without spaces),
   *              now or before the change
   *   claimed    only Workloads that the plugin's own traits claim, now or before the change
   *   by-owner   an object whose controlling owner is of a watched kind is not looked at itself:
   *              its changes have the owner looked at
   * [load] */
  int32_t (*kinds)(sluice_instance_t* self, const sluice_sink_t* out);
  /* Brings one object into line. `again_after_ms`, 0 before the call: look at it again after so
   * many milliseconds, also if nothing changes; 0: only when something does;
   * SLUICE_AGAIN_AT_ONCE. [control] */
  int32_t (*reconcile)(sluice_instance_t* self, const sluice_reconcile_t* what,
                       int64_t* again_after_ms);
} sluice_controller_t;

SLUICE_EXTERN_C_END

#endif
