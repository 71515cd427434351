/* Emits an event before it is active. */
#include "parts.h"
#define OWN_CREATE
static int32_t create(const sluice_host_t* host, sluice_str_t config, sluice_instance_t** out,
                      const sluice_sink_t* error) {
  const sluice_events_t* events = (const sluice_events_t*)service(host, SLUICE_SVC_EVENTS);
  sluice_event_t event;
  (void)config;
  (void)error;
  memset(&event, 0, sizeof(event));
  event.size = sizeof(event);
  event.reason = text_of("Hello");
  if (events != NULL) events->emit(host, &event);
  *out = (sluice_instance_t*)calloc(1, sizeof(void*));
  return SLUICE_OK;
}
#include "skeleton.h"
