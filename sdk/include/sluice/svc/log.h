/* log/1: lines in the host's log, marked with the plugin's name. */
#ifndef SLUICE_SVC_LOG_H
#define SLUICE_SVC_LOG_H

#include "sluice/abi.h"

#define SLUICE_SVC_LOG "log/1"

SLUICE_EXTERN_C_BEGIN

enum { SLUICE_LOG_DEBUG = 0, SLUICE_LOG_INFO = 1, SLUICE_LOG_WARNING = 2, SLUICE_LOG_ERROR = 3 };

typedef struct sluice_log {
  uint32_t size;
  uint32_t reserved;
  /* An unknown level counts as INFO. [any] */
  void (*write)(const sluice_host_t* host, int32_t level, sluice_str_t text);
} sluice_log_t;

SLUICE_EXTERN_C_END

#endif
