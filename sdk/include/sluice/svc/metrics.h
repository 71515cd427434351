/* metrics/1: counters and gauges of the plugin's own.
 *
 * A metric is registered once and then named by its number. Its exported name is
 * `sluice_plugin_PLUGIN_NAME`, with `_` for each `-` of the plugin's name; with
 * SLUICE_METRIC_NAMED_IN_FULL it is the name itself, for one that others know already. Values are
 * whole numbers; with the unit SLUICE_UNIT_NANOSECONDS they are exported as seconds. */
#ifndef SLUICE_SVC_METRICS_H
#define SLUICE_SVC_METRICS_H

#include "sluice/abi.h"

#define SLUICE_SVC_METRICS "metrics/1"

SLUICE_EXTERN_C_BEGIN

enum {
  SLUICE_METRIC_COUNTER = 0,
  SLUICE_METRIC_GAUGE = 1,
  /* Added to a kind: the name is exported as it is. It may not begin as those of hosts do
   * (`sluice_`, `kueue_`, `process_`), nor be another plugin's. A host that does not know it
   * refuses the kind. */
  SLUICE_METRIC_NAMED_IN_FULL = 16
};
enum { SLUICE_UNIT_NONE = 0, SLUICE_UNIT_NANOSECONDS = 1 };

typedef struct sluice_metric_spec {
  uint32_t size;
  int32_t kind;
  int32_t unit;
  uint32_t label_count;       /* at most 8 */
  sluice_str_t name;          /* lower case letters, digits and `_` */
  sluice_str_t help;          /* one sentence */
  const sluice_str_t* labels; /* names */
} sluice_metric_spec_t;

typedef struct sluice_metrics {
  uint32_t size;
  uint32_t reserved;
  /* SLUICE_OK and the number, or SLUICE_REFUSED when the name is malformed, not the plugin's to
   * take, or was registered with another kind, unit or labels. The same registration gives the same
   * number. [any] */
  int32_t (*register_metric)(const sluice_host_t* host, const sluice_metric_spec_t* spec,
                             uint32_t* metric);
  /* Adds to a counter (delta ≥ 0) or gauge. `values` holds one text per label. A wrong number or
   * count changes nothing and answers SLUICE_REFUSED. [any] */
  int32_t (*add)(const sluice_host_t* host, uint32_t metric, const sluice_str_t* values,
                 uint32_t value_count, int64_t delta);
  /* Sets a gauge. [any] */
  int32_t (*set)(const sluice_host_t* host, uint32_t metric, const sluice_str_t* values,
                 uint32_t value_count, int64_t value);
} sluice_metrics_t;

SLUICE_EXTERN_C_END

#endif
