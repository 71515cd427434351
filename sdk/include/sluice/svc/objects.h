/* objects/1: reading and writing the host's objects, as JSON, by the rules of its API.
 *
 * To be used inside these calls of the plugin, on the thread of the call: check_changed, begin and
 * cancel of check-controller/1, reconcile of controller/1, notify of post-admit/1, fired of
 * timers/1, deactivate when the plugin is turned off while the host goes on; for reading also
 * inside set_defaults and validate of validator/1 and explain of check-controller/1. Anywhere else
 * every function answers SLUICE_OBJECTS_NOT_NOW.
 *
 * What the plugin may read and write is what its library declares with SLUICE_MAY (metadata.h);
 * anything else is answered with SLUICE_OBJECTS_FORBIDDEN.
 *
 * Writes are those of the user system:plugin:NAME. They are validated at once (defaults, schema,
 * other plugins' validators) and visible to later reads of the same call. They take effect when the
 * call answered SLUICE_OK, all in one transaction and in their order; when it fails, none of them
 * takes effect. A call that fails right after a write of it was refused is no step toward
 * quarantine: what is refused is up to users. The status of a Workload, too, is read as it was
 * written until the call returned; then the engine updates it.
 *
 * Objects are read without metadata.managedFields, which the host keeps.
 *
 * `out` gets the answer, `error` a sentence when the code is not SLUICE_OBJECTS_OK; both may be
 * NULL. */
#ifndef SLUICE_SVC_OBJECTS_H
#define SLUICE_SVC_OBJECTS_H

#include "sluice/abi.h"

#define SLUICE_SVC_OBJECTS "objects/1"

SLUICE_EXTERN_C_BEGIN

/* More may come; treat an unknown code as SLUICE_OBJECTS_INVALID. */
enum {
  SLUICE_OBJECTS_OK = 0,
  SLUICE_OBJECTS_NOT_FOUND = 1,      /* no such object, or no such kind */
  SLUICE_OBJECTS_ALREADY_EXISTS = 2, /* create */
  SLUICE_OBJECTS_CONFLICT = 3,       /* it changed since it was read, or its state forbids it */
  SLUICE_OBJECTS_INVALID = 4,        /* the object or the arguments make no sense */
  SLUICE_OBJECTS_FORBIDDEN = 5,
  SLUICE_OBJECTS_NOT_NOW = 6, /* not inside one of the calls above */
  SLUICE_OBJECTS_FAILED = 7   /* something unexpected in the host */
};

typedef struct sluice_object_ref {
  uint32_t size;
  uint32_t reserved;
  sluice_str_t api_version; /* GROUP/VERSION or VERSION: what is read and written is in it */
  sluice_str_t kind;
  sluice_str_t namespace_of; /* empty for cluster-wide kinds */
  sluice_str_t name;
} sluice_object_ref_t;

typedef struct sluice_objects {
  uint32_t size;
  uint32_t reserved;
  /* The object. [control] */
  int32_t (*get)(const sluice_host_t* host, const sluice_object_ref_t* ref,
                 const sluice_sink_t* out, const sluice_sink_t* error);
  /* A JSON list of the objects of ref's kind, in ref's namespace (empty: all), whose labels match
   * the selector (`a=b,c in (d,e)`, empty: all), by namespace and name. ref's name is not looked
   * at. [control] */
  int32_t (*list)(const sluice_host_t* host, const sluice_object_ref_t* ref, sluice_str_t selector,
                  const sluice_sink_t* out, const sluice_sink_t* error);
  /* The object names its apiVersion, kind, name (or generateName) and namespace. `out`: as made.
   * [control] */
  int32_t (*create)(const sluice_host_t* host, sluice_str_t object, const sluice_sink_t* out,
                    const sluice_sink_t* error);
  /* Replaces the object, or its status when `subresource` is `status`. With a resourceVersion in
   * it: only if that is the present one. `out`: as it is then. [control] */
  int32_t (*update)(const sluice_host_t* host, sluice_str_t object, sluice_str_t subresource,
                    const sluice_sink_t* out, const sluice_sink_t* error);
  /* JSON merge patch (RFC 7396) of the object, or of its status. [control] */
  int32_t (*patch)(const sluice_host_t* host, const sluice_object_ref_t* ref,
                   sluice_str_t subresource, sluice_str_t merge, const sluice_sink_t* out,
                   const sluice_sink_t* error);
  /* Deletes the object, and in the background what it owns. `uid`: only if it has this one; empty:
   * whichever. [control] */
  int32_t (*remove)(const sluice_host_t* host, const sluice_object_ref_t* ref, sluice_str_t uid,
                    const sluice_sink_t* error);
  /* The Workload is no longer claimed by this plugin, which answered with a trait for it once: from
   * now on, whether the plugin is loaded or not, it is as if the plugin had never answered. Claims
   * of other plugins stay. Releasing what is not claimed is no error. A write as all others.
   * [control] */
  int32_t (*release_claim)(const sluice_host_t* host, const sluice_object_ref_t* ref,
                           const sluice_sink_t* error);
} sluice_objects_t;

SLUICE_EXTERN_C_END

#endif
