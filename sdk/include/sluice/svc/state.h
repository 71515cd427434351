/* state/1: keys and values of the plugin's own, kept by the host with everything else.
 *
 * For what cannot be read from objects again after a restart. Usable where svc/objects.h is, with
 * the same transaction: what a call sets is kept when it answers SLUICE_OK, and dropped when it
 * fails. Values are bytes. Other plugins do not see them, and the API does not serve them. */
#ifndef SLUICE_SVC_STATE_H
#define SLUICE_SVC_STATE_H

#include "sluice/abi.h"

#define SLUICE_SVC_STATE "state/1"

SLUICE_EXTERN_C_BEGIN

enum {
  SLUICE_STATE_MAX_KEY = 253,    /* bytes */
  SLUICE_STATE_MAX_VALUE = 65536 /* bytes */
};
#define SLUICE_STATE_MAX_KEYS 10000

/* Codes are those of svc/objects.h. */
typedef struct sluice_state {
  uint32_t size;
  uint32_t reserved;
  /* SLUICE_OBJECTS_NOT_FOUND without one. [control] */
  int32_t (*get)(const sluice_host_t* host, sluice_str_t key, const sluice_sink_t* out);
  /* SLUICE_OBJECTS_INVALID: the key is empty, too long or no UTF-8, the value too long, or there
   * are too many keys. [control] */
  int32_t (*set)(const sluice_host_t* host, sluice_str_t key, sluice_str_t value);
  /* One that is not there is no error. [control] */
  int32_t (*remove)(const sluice_host_t* host, sluice_str_t key);
  /* Calls fn for each key that starts with prefix, in order of bytes. fn must not call the host.
   * [control] */
  int32_t (*keys)(const sluice_host_t* host, sluice_str_t prefix,
                  void (*fn)(void* context, sluice_str_t key), void* context);
} sluice_state_t;

SLUICE_EXTERN_C_END

#endif
