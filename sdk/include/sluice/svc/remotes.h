/* remotes/1: objects of other places: other hosts, and clusters of Kubernetes.
 *
 * A plugin names a remote; the host connects to it, lists and watches the kinds that the plugin
 * follows there, and comes back with growing pauses when the connection breaks. What it knows is a
 * mirror, read here without waiting. reconcile of controller/1 is called with `remote` for each
 * object of the mirror that came, changed or went, and with an empty kind when the remote itself
 * changed (connected, lost, refused).
 *
 * Writes are queued: they leave when the call answered SLUICE_OK and what it wrote locally is
 * durable, those to one object in their order. What became of a write is a later turn: reconcile is
 * called for the object, and writing() tells. A write whose connection broke may have been carried
 * out: write so that twice is as good as once.
 *
 * To be used where svc/objects.h is, on the thread of the call; where objects may only be read, the
 * mirror may be read (state, get, list, writing), and questions asked. Anywhere else, and in a host
 * that reaches no other place (a simulation, for one), every function answers
 * SLUICE_OBJECTS_NOT_NOW. A plugin with a process of its own has no such service. */
#ifndef SLUICE_SVC_REMOTES_H
#define SLUICE_SVC_REMOTES_H

#include "sluice/abi.h"
#include "sluice/svc/objects.h"

#define SLUICE_SVC_REMOTES "remotes/1"

SLUICE_EXTERN_C_BEGIN

/* Codes beside those of svc/objects.h. */
enum {
  SLUICE_REMOTES_BUSY = 8 /* too many writes to this remote have no answer yet; try again later */
};

typedef struct sluice_remotes {
  uint32_t size;
  uint32_t reserved;
  /* Names a remote, or changes it; the same again changes nothing. `spec` is JSON, with one of
   * kubeconfig and file:
   *
   *   {"kubeconfig": TEXT,  with everything in it: it may name no file
   *    "file": PATH,        of a kubeconfig on this machine; it is read again when it changes
   *    "kinds": [{"apiVersion": "batch/v1", "kind": "Job", "labels": SELECTOR}, ...]}
   *
   * Kinds are those that this host has, too; `labels` may be left out. SLUICE_OBJECTS_INVALID: the
   * spec makes no sense, or there are too many remotes. What is wrong with the place is told by
   * state(). [control] */
  int32_t (*set)(const sluice_host_t* host, sluice_str_t remote, sluice_str_t spec,
                 const sluice_sink_t* error);
  /* Forgets the remote: its connection ends, and writes that have not left are dropped. One that
   * is not there is no error. [control] */
  int32_t (*remove)(const sluice_host_t* host, sluice_str_t remote);
  /* JSON: {"connected": BOOL,  all kinds were listed, and nothing is in the way
   *        "since": NS,        when `connected` became what it is
   *        "synced": BOOL,     all kinds were listed once: the mirror may be read
   *        "problem": TEXT,    empty, or Kubeconfig (cannot be used), Insecure (names a file or
   *                            does not check who it talks to), Connection, Refused (401, 403),
   *                            Missing (a kind is not there), TooLarge
   *        "message": TEXT,    a sentence about it
   *        "objects": N, "writes": N}
   * SLUICE_OBJECTS_NOT_FOUND: no such remote. [control] */
  int32_t (*state)(const sluice_host_t* host, sluice_str_t remote, const sluice_sink_t* out);
  /* The object as the mirror has it. [control] */
  int32_t (*get)(const sluice_host_t* host, sluice_str_t remote, const sluice_object_ref_t* ref,
                 const sluice_sink_t* out, const sluice_sink_t* error);
  /* As list of objects/1, of the mirror. [control] */
  int32_t (*list)(const sluice_host_t* host, sluice_str_t remote, const sluice_object_ref_t* ref,
                  sluice_str_t selector, const sluice_sink_t* out, const sluice_sink_t* error);
  /* SLUICE_OBJECTS_OK: queued. [control] */
  int32_t (*create)(const sluice_host_t* host, sluice_str_t remote, sluice_str_t object,
                    const sluice_sink_t* error);
  /* JSON merge patch of the object, or of its status. [control] */
  int32_t (*patch)(const sluice_host_t* host, sluice_str_t remote, const sluice_object_ref_t* ref,
                   sluice_str_t subresource, sluice_str_t merge, const sluice_sink_t* error);
  /* Deletes what it owns, then itself: what is gone runs no more. `uid`: only if it has this one.
   * [control] */
  int32_t (*erase)(const sluice_host_t* host, sluice_str_t remote, const sluice_object_ref_t* ref,
                   sluice_str_t uid, const sluice_sink_t* error);
  /* The last write to the object, as JSON:
   *   {"verb": "create" | "patch" | "erase",
   *    "state": "waiting"  no answer yet, or the mirror does not show yet what became of it,
   *             "failed",
   *    "code": N,          failed: the status of the answer; 0: there was none
   *    "message": TEXT}
   * SLUICE_OBJECTS_NOT_FOUND: there was none, or the mirror shows it. [control] */
  int32_t (*writing)(const sluice_host_t* host, sluice_str_t remote, const sluice_object_ref_t* ref,
                     const sluice_sink_t* out);
  /* Asks the remote: `question` is an object of a kind of which nothing is kept (WhatIf,
   * SelfSubjectAccessReview, ...), as JSON. `ref` names its kind, the namespace that such a kind
   * has, and the question: a name of the plugin's. An empty question reads what the place works
   * out of one of its objects, which `ref` names: Explanation of sluice.dev/v1alpha1 (of a
   * Workload), PendingWorkloadsSummary of visibility.kueue.x-k8s.io/v1beta2. It leaves at once,
   * whatever becomes of the call; the one before of this name is forgotten. reconcile is called
   * for `ref` when there is an answer. SLUICE_REMOTES_BUSY: 64 are open. [control] */
  int32_t (*ask)(const sluice_host_t* host, sluice_str_t remote, const sluice_object_ref_t* ref,
                 sluice_str_t question, const sluice_sink_t* error);
  /* How it stands with a question, as JSON:
   *   {"waiting": BOOL,    no answer yet
   *    "code": N,          the status of the answer; 0: there is none
   *    "message": TEXT,    why there is none, or what it says when it is no success
   *    "answer": {...}}    what was answered; absent without success
   * An answer is handed out once. SLUICE_OBJECTS_NOT_FOUND: it was not asked, its answer was handed
   * out, or the remote was named anew: ask again. [control] */
  int32_t (*answer)(const sluice_host_t* host, sluice_str_t remote, const sluice_object_ref_t* ref,
                    const sluice_sink_t* out);
} sluice_remotes_t;

SLUICE_EXTERN_C_END

#endif
