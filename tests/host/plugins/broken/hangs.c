/* Never comes back from activate(). */
#include <unistd.h>

#include "parts.h"
#define OWN_ACTIVATE
static int32_t wait_for_ever(sluice_instance_t* self, const sluice_sink_t* error) {
  (void)self;
  (void)error;
  while (pause() < 0) continue;
  return SLUICE_OK;
}
#define activate &wait_for_ever
#include "skeleton.h"
