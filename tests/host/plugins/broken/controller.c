/* A controller that is never at rest, or (GONE) that does not know what to do without an object. */
#define WITH_INSTANCE
#include <stdio.h>

#include "parts.h"

static int32_t kinds(sluice_instance_t* self, const sluice_sink_t* out) {
  (void)self;
  out->write(out->context, text_of(KINDS));
  return SLUICE_OK;
}

static int32_t reconcile(sluice_instance_t* self, const sluice_reconcile_t* what,
                         int64_t* again_after_ms) {
  const sluice_objects_t* objects =
      (const sluice_objects_t*)service(self->host, SLUICE_SVC_OBJECTS);
  const sluice_object_ref_t ref = {sizeof(ref),        0,         what->api_version, what->kind,
                                   what->namespace_of, what->name};
  static unsigned times = 0; /* what changes nothing would be no write */
  char merge[64];
  int32_t code = SLUICE_OBJECTS_NOT_NOW;
  (void)again_after_ms;
  snprintf(merge, sizeof(merge), "{\"metadata\":{\"labels\":{\"seen\":\"%u\"}}}", ++times);
  if (objects != NULL)
    code = objects->patch(self->host, &ref, text_of(""), text_of(merge), NULL, NULL);
  return code == SLUICE_OBJECTS_OK ? SLUICE_OK : GONE;
}

static const sluice_controller_t controller = {sizeof(sluice_controller_t), 0, &kinds, &reconcile};
#define POINT SLUICE_EXT_CONTROLLER
#define TABLE controller
#include "skeleton.h"
