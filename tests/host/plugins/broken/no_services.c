/* Takes for granted that the host has a log. */
#include "parts.h"
#define OWN_ACTIVATE
static int32_t say_hello(sluice_instance_t* self, const sluice_sink_t* error);
#define activate &say_hello
#include "skeleton.h"
static int32_t say_hello(sluice_instance_t* self, const sluice_sink_t* error) {
  const sluice_log_t* log = (const sluice_log_t*)service(self->host, SLUICE_SVC_LOG);
  (void)error;
  log->write(self->host, SLUICE_LOG_INFO, text_of("hello"));
  return SLUICE_OK;
}
