/* activate() answers a code that there is not. */
#include "parts.h"
#define OWN_ACTIVATE
static int32_t odd_activate(sluice_instance_t* self, const sluice_sink_t* error) {
  (void)self;
  (void)error;
  return 7;
}
#define activate &odd_activate
#include "skeleton.h"
