package main

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
)

// What the controllers of a cluster tell Kueue's cache and queues about each event of a Timeline
// and each write of the scheduler stands here and in the files named after what it is about.

func (w *world) skip(what string, why error) bool {
	if why != nil {
		w.result.Skipped = append(w.result.Skipped, what+": "+why.Error())
	}
	return why != nil
}

func (w *world) happen(e happening) {
	switch {
	case e.Apply != nil:
		w.apply(e.Apply)
	case e.Patch != nil:
		w.patch(e.Patch)
	case e.Finish != nil:
		w.finish(keyOf(e.Finish.Namespace, e.Finish.Name))
	case e.Delete != nil:
		w.remove(e.Delete)
	}
}

func (w *world) apply(raw json.RawMessage) {
	switch h := headOf(raw); h.Kind {
	case "Namespace":
		var n corev1.Namespace
		must(json.Unmarshal(raw, &n))
		w.api.namespaces[n.Name] = &n
	case "ResourceFlavor":
		w.applyFlavor(raw)
	case "AdmissionCheck":
		w.applyCheck(raw)
	case "Cohort":
		w.applyCohort(raw)
	case "ClusterQueue":
		w.applyQueue(raw)
	case "LocalQueue":
		w.applyLocal(raw)
	case "Workload":
		w.applyWorkload(raw)
	}
}
