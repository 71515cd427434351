package main

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/workload"
	"sigs.k8s.io/kueue/pkg/workload/evict"
)

// drain evicts those of stopped queues, after all events of an instant: controllers come to that
// later than to what ends by itself.
func (w *world) drain() {
	for _, key := range sorted(w.api.workloads) {
		wl := w.api.workloads[key]
		if !holdsQuota(wl) {
			continue
		}
		queue := w.api.queues[string(wl.Status.Admission.ClusterQueue)]
		local := w.api.locals[keyOf(wl.Namespace, string(wl.Spec.QueueName))]
		switch {
		case local != nil && stops(local.Spec.StopPolicy) == kueue.HoldAndDrain:
			w.evict(key, kueue.WorkloadEvictedByLocalQueueStopped)
		case queue != nil && stops(queue.Spec.StopPolicy) == kueue.HoldAndDrain:
			w.evict(key, kueue.WorkloadEvictedByClusterQueueStopped)
		}
	}
}

// evict ends an admission for another reason than preemption.
func (w *world) evict(key, reason string) {
	old := w.api.workloads[key]
	now := old.DeepCopy()
	evict.SetEvictedCondition(now, w.clock.Now(), reason, "")
	w.api.workloads[key] = now
	w.now.Evicted = append(w.now.Evicted, eviction(w.api, now))
	w.completeEviction(key)
}

// completeEviction clears the reservation, as the controller of a job does when its pods have
// ended.
func (w *world) completeEviction(key string) {
	old := w.api.workloads[key]
	w.expected.ObservedUID(w.log, client.ObjectKeyFromObject(old), old.UID)
	now := old.DeepCopy()
	workload.UnsetQuotaReservationWithCondition(now, "Pending", "evicted", w.clock.Now())
	w.api.workloads[key] = now
	w.workloadChanged(old, now)
}
