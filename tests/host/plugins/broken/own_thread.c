/* A thread of its own dies while activate() waits for it. */
#define OWN_ACTIVATE
#include <pthread.h>
#include <signal.h>

#include "parts.h"

static void* die(void* unused) {
  raise(SIGSEGV);
  return unused;
}

static int32_t activate(sluice_instance_t* self, const sluice_sink_t* error) {
  pthread_t thread;
  (void)self;
  (void)error;
  if (pthread_create(&thread, NULL, &die, NULL) != 0) return SLUICE_FAILED;
  pthread_join(thread, NULL);
  return SLUICE_OK;
}
#include "skeleton.h"
