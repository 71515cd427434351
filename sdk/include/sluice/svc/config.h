/* config/1: the plugin's configuration by JSON pointer, for plugins without a JSON parser.
 *
 * The configuration is the one that create() got: checked against the plugin's schema, defaults
 * filled in. A pointer is `/key/0/key` (RFC 6901); the empty one is the whole document. */
#ifndef SLUICE_SVC_CONFIG_H
#define SLUICE_SVC_CONFIG_H

#include "sluice/abi.h"

#define SLUICE_SVC_CONFIG "config/1"

SLUICE_EXTERN_C_BEGIN

/* Each answers 1 when there is a value of that type, else 0 and leaves the output alone. */
typedef struct sluice_config {
  uint32_t size;
  uint32_t reserved;
  /* The text without quotes. [any] */
  int32_t (*get_string)(const sluice_host_t* host, sluice_str_t pointer, const sluice_sink_t* out);
  int32_t (*get_int)(const sluice_host_t* host, sluice_str_t pointer, int64_t* out);  /* [any] */
  int32_t (*get_bool)(const sluice_host_t* host, sluice_str_t pointer, int32_t* out); /* [any] */
  /* Any value as JSON. [any] */
  int32_t (*get_json)(const sluice_host_t* host, sluice_str_t pointer, const sluice_sink_t* out);
} sluice_config_t;

SLUICE_EXTERN_C_END

#endif
