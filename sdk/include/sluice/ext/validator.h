/* validator/1: defaults and validates an object when it is written.
 *
 * First every plugin's set_defaults runs, in load order, then every plugin's validate: all must
 * accept. Plain defaults, types and enums belong into schema/1. A fault refuses the write
 * (failurePolicy `closed`) or is as if the plugin had accepted it (`open`). */
#ifndef SLUICE_EXT_VALIDATOR_H
#define SLUICE_EXT_VALIDATOR_H

#include "sluice/abi.h"

#define SLUICE_EXT_VALIDATOR "validator/1"

SLUICE_EXTERN_C_BEGIN

/* No host asks about a deletion so far: what goes is held up by finalizers, never by a plugin that
 * is broken. A plugin lets DELETE pass. */
enum { SLUICE_WRITE_CREATE = 0, SLUICE_WRITE_UPDATE = 1, SLUICE_WRITE_DELETE = 2 };

/* Kinds of field errors, worded as Kubernetes words them. Anything else counts as INVALID. */
enum {
  SLUICE_FIELD_INVALID = 0,
  SLUICE_FIELD_REQUIRED = 1,
  SLUICE_FIELD_FORBIDDEN = 2,
  SLUICE_FIELD_NOT_SUPPORTED = 3,
  SLUICE_FIELD_DUPLICATE = 4
};

typedef struct sluice_write {
  uint32_t size;
  int32_t operation;        /* SLUICE_WRITE_* */
  sluice_str_t api_version; /* GROUP/VERSION, or VERSION for the core group */
  sluice_str_t kind;
  sluice_str_t object; /* JSON as it would be stored, without managedFields; empty on delete */
  sluice_str_t old;    /* JSON as it is stored, as `object`; empty on create */
  sluice_str_t user;   /* who writes, as the host knows him; empty: the host itself */
} sluice_write_t;

typedef struct sluice_field_error_sink {
  uint32_t size;
  uint32_t reserved;
  void* context;
  /* `path` as `spec.x[0].y`; `value` as JSON, may be empty; `detail` says what is allowed. [any] */
  void (*error)(void* context, int32_t kind, sluice_str_t path, sluice_str_t value,
                sluice_str_t detail);
} sluice_field_error_sink_t;

typedef struct sluice_validator {
  uint32_t size;
  uint32_t reserved;
  /* Writes the kinds it wants to see, one `GROUP/KIND` (or `KIND`) per line. [load]
   *
   * Words behind it say of which objects API servers ask, where Sluice decides for a cluster and
   * the kind is none of Kueue's and no job. A host of its own asks about every object of the kind.
   *
   *   label:SEL       only objects whose labels the selector SEL matches (`label:a=b,!c`, without
   *                   spaces), before or after the change
   *   annotation:NAME only objects that have this annotation; annotation:!NAME: have it not
   *   except:NS,NS    none in these namespaces; nor, ever, in those of the system
   *   if-answered     where nobody answers, an object is stored unasked; else it is refused
   *   resource:V/P    the kind is served as VERSION/PLURAL: for one that the host does not know
   */
  int32_t (*kinds)(sluice_instance_t* self, const sluice_sink_t* out);
  /* Writes the whole object with defaults filled in, or nothing when there is nothing to change.
   * Not asked on delete. May be NULL. [control] */
  int32_t (*set_defaults)(sluice_instance_t* self, const sluice_write_t* write,
                          const sluice_sink_t* out);
  /* Accepts the write by reporting no error; the first 100 are shown. [control] */
  int32_t (*validate)(sluice_instance_t* self, const sluice_write_t* write,
                      const sluice_field_error_sink_t* out);
} sluice_validator_t;

SLUICE_EXTERN_C_END

#endif
