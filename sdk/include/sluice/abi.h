/* abi.h: the types that cross the line between the Sluice host and a plugin.
 *
 * The line is plain C. Only these cross it: integers of fixed width, borrowed UTF-8 texts, opaque
 * handles, int32 codes, and output that the plugin hands to a sink of the host. No ownership ever
 * crosses: each side frees what it made. A text or handle that is passed to a function is valid
 * until that function returns, unless its comment says otherwise.
 *
 * Structs that may grow start with `size`, the number of bytes that its maker knows. They only ever
 * grow at the end. Read a member that may be missing only after SLUICE_HAS(pointer, member).
 *
 * Every function carries exactly one thread tag:
 *   [load]     called while the plugin is being loaded, before anything else of it runs
 *   [control]  one call at a time per plugin, and never while a [cycle] call of it runs
 *   [cycle]    called from many threads at once; must not block, must answer the same for the same
 *              input; the handles it gets die when it returns
 *   [any]      may be called from any thread at any time
 * The host holds no lock while it is inside a plugin. */
#ifndef SLUICE_ABI_H
#define SLUICE_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define SLUICE_EXTERN_C_BEGIN extern "C" {
#define SLUICE_EXTERN_C_END }
#else
#define SLUICE_EXTERN_C_BEGIN
#define SLUICE_EXTERN_C_END
#endif

/* A plugin loads if its major equals the host's. The minor never stops it: what is there is found
 * by extension id and by `size`. */
#define SLUICE_ABI_MAJOR 1
#define SLUICE_ABI_MINOR 0

/* True when the maker of the struct behind p knew this member. A member function that is there may
 * still be NULL: then it is not provided. */
#ifdef __cplusplus
#define SLUICE_HAS(p, member)                                                    \
  (static_cast<uint64_t>(reinterpret_cast<const char*>(&(p)->member) -           \
                         reinterpret_cast<const char*>(p)) +                     \
       sizeof((p)->member) /* of a pointer: NOLINT(bugprone-sizeof-expression)*/ \
   <= static_cast<uint64_t>((p)->size))
#else
#define SLUICE_HAS(p, member)                                                        \
  ((uint64_t)((const char*)&(p)->member - (const char*)(p)) + sizeof((p)->member) <= \
   (uint64_t)(p)->size)
#endif

/* Initializes a sluice_str_t with a string literal. */
#define SLUICE_STR_INIT(literal) \
  { literal, sizeof(literal) - 1 }

SLUICE_EXTERN_C_BEGIN

/* A borrowed UTF-8 text of len bytes; no NUL at the end is promised. Empty: len is 0. */
typedef struct sluice_str {
  const char* ptr;
  uint64_t len;
} sluice_str_t;

/* Takes text from the function that is called. write() may be called several times: the pieces are
 * joined. The text is copied before write() returns. */
typedef struct sluice_sink {
  uint32_t size;
  uint32_t reserved;
  void* context;
  void (*write)(void* context, sluice_str_t text); /* [any] */
} sluice_sink_t;

/* What a function answers. Any other value is a fault. */
enum {
  SLUICE_OK = 0,      /* the call did what it says */
  SLUICE_RETRY = 1,   /* not now: to be called again later (post-admit only) */
  SLUICE_REFUSED = 2, /* the input is wrong, the sink says why (create and activate only) */
  SLUICE_FAILED = 3   /* something unexpected: a fault, see report_fault */
};

/* The plugin's own object, made by create(). */
typedef struct sluice_instance sluice_instance_t;
/* The host's record of one loaded plugin. */
typedef struct sluice_host_handle sluice_host_handle_t;

/* What the host offers. Valid from create() until destroy() returned. */
typedef struct sluice_host {
  uint32_t size;
  uint32_t abi_major;
  uint32_t abi_minor;
  uint32_t reserved;
  sluice_host_handle_t* handle;
  sluice_str_t version; /* of the host, for logs */
  /* The table of a host service (svc/), or NULL when this host does not have that id. [any] */
  const void* (*service)(const struct sluice_host* host, sluice_str_t id);
  /* Says why the call that is running on this thread is about to answer SLUICE_FAILED. [any] */
  void (*report_fault)(const struct sluice_host* host, sluice_str_t text);
} sluice_host_t;

/* What a plugin is. The entry function returns one that lives as long as the library. */
typedef struct sluice_plugin {
  uint32_t size;
  uint32_t abi_major;
  uint32_t abi_minor;
  uint32_t reserved;
  sluice_str_t name;        /* as in the metadata and in the file's name, NAME.so */
  sluice_str_t version;     /* semantic version of the plugin */
  sluice_str_t description; /* one line for `plugin inspect` and `plugin list`; may be empty */
  /* JSON Schema of the configuration (docs/plugins/configuration.md lists the keywords). Empty: the
   * plugin takes no configuration. The host checks the configuration and fills in the defaults. */
  sluice_str_t config_schema;
  /* Makes an instance. Several may exist at once. Of the host's services only log, config and
   * lookups may be used before activate(). [load] */
  int32_t (*create)(const sluice_host_t* host, sluice_str_t config_json, sluice_instance_t** out,
                    const sluice_sink_t* error);
  /* From now on hooks are called. May be NULL. [control] */
  int32_t (*activate)(sluice_instance_t* self, const sluice_sink_t* error);
  /* No more hooks are called once this returned. When the plugin is turned off by a reload it may
   * write what it leaves behind (svc/objects.h). May be NULL. [control] */
  int32_t (*deactivate)(sluice_instance_t* self, const sluice_sink_t* error);
  /* Ends the instance. [control] */
  void (*destroy)(sluice_instance_t* self);
  /* The table of an extension point (ext/) that this plugin provides, or NULL. The answer for an id
   * never changes. [load] */
  const void* (*extension)(sluice_instance_t* self, sluice_str_t id);
} sluice_plugin_t;

/* The one symbol that a plugin exports. It runs no other code of the plugin. [load] */
#define SLUICE_ENTRY_SYMBOL "sluice_plugin_entry"
typedef const sluice_plugin_t* (*sluice_plugin_entry_fn)(uint32_t host_abi_major,
                                                         uint32_t host_abi_minor);

#if defined(__GNUC__)
#define SLUICE_EXPORT __attribute__((visibility("default")))
#else
#define SLUICE_EXPORT
#endif

SLUICE_EXPORT const sluice_plugin_t* sluice_plugin_entry(uint32_t host_abi_major,
                                                         uint32_t host_abi_minor);

SLUICE_EXTERN_C_END

#endif
