/* Each instance starts a thread that never ends. */
#include <pthread.h>
#include <unistd.h>

#include "parts.h"
#define OWN_ACTIVATE
static void* forever(void* nothing) {
  for (;;) pause();
  return nothing;
}
static int32_t start_one(sluice_instance_t* self, const sluice_sink_t* error) {
  static int started = 0;
  pthread_t thread;
  (void)self;
  (void)error;
  if (++started > 20) return SLUICE_OK; /* enough to be seen */
  return pthread_create(&thread, NULL, &forever, NULL) == 0 ? SLUICE_OK : SLUICE_FAILED;
}
#define activate &start_one
#include "skeleton.h"
