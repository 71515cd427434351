/* events/1: Kubernetes events about an object, for people to see with kubectl describe. */
#ifndef SLUICE_SVC_EVENTS_H
#define SLUICE_SVC_EVENTS_H

#include "sluice/abi.h"

#define SLUICE_SVC_EVENTS "events/1"

SLUICE_EXTERN_C_BEGIN

typedef struct sluice_event {
  uint32_t size;
  int32_t warning;          /* 1: type Warning, 0: Normal */
  sluice_str_t api_version; /* of the object, for example kueue.x-k8s.io/v1beta2 */
  sluice_str_t kind;
  sluice_str_t namespace_of; /* empty for cluster-wide kinds */
  sluice_str_t name;
  sluice_str_t reason;  /* CamelCase, stable */
  sluice_str_t message; /* a sentence */
} sluice_event_t;

typedef struct sluice_events {
  uint32_t size;
  uint32_t reserved;
  /* Queued; published after the running call returned. [any] */
  void (*emit)(const sluice_host_t* host, const sluice_event_t* event);
} sluice_events_t;

SLUICE_EXTERN_C_END

#endif
