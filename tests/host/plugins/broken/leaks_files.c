/* Each instance opens a file that nobody closes. */
#include <fcntl.h>

#include "parts.h"
#define OWN_ACTIVATE
static int32_t open_one(sluice_instance_t* self, const sluice_sink_t* error) {
  (void)self;
  (void)error;
  return open("/dev/null", O_RDONLY) >= 0 ? SLUICE_OK : SLUICE_FAILED;
}
#define activate &open_one
#include "skeleton.h"
