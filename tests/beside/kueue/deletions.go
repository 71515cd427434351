package main

import (
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/workload"
)

func (w *world) remove(r *reference) {
	key := keyOf(r.Namespace, r.Name)
	switch r.Kind {
	case "Workload":
		if w.api.workloads[key] == nil {
			w.result.Skipped = append(w.result.Skipped, "delete of "+key)
			return
		}
		reference := workload.NewReference(r.Namespace, r.Name)
		delete(w.api.workloads, key)
		w.queues.QueueAssociatedInadmissibleWorkloadsAfter(w.ctx, reference, func() {
			_ = w.cache.DeleteWorkload(w.log, reference)
		})
		w.queues.DeleteAndForgetWorkload(w.log, reference)
	case "Cohort":
		delete(w.api.cohorts, key)
		w.cache.DeleteCohort(kueue.CohortReference(r.Name))
		w.queues.DeleteCohort(kueue.CohortReference(r.Name))
	case "LocalQueue":
		if q := w.api.locals[key]; q != nil {
			delete(w.api.locals, key)
			w.queues.DeleteLocalQueue(w.log, q)
			w.cache.DeleteLocalQueue(q)
		}
	case "ClusterQueue":
		if w.api.queues[key] != nil {
			w.cache.TerminateClusterQueue(kueue.ClusterQueueReference(r.Name))
			w.ending[key] = true
		}
	}
}

// settleDeletions lets go of deleted ClusterQueues in which nobody holds quota any more.
func (w *world) settleDeletions() {
	for _, key := range sorted(w.ending) {
		if !w.cache.ClusterQueueEmpty(kueue.ClusterQueueReference(key)) {
			continue
		}
		q := w.api.queues[key]
		delete(w.api.queues, key)
		delete(w.ending, key)
		w.cache.DeleteClusterQueue(q)
		w.queues.DeleteClusterQueue(w.log, q)
	}
}
