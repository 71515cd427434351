package main

import (
	"encoding/json"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/api/equality"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/webhooks"
	"sigs.k8s.io/kueue/pkg/workload"
	"sigs.k8s.io/kueue/pkg/workload/finish"
)

func compareKeys(a, b *kueue.Workload) int {
	return strings.Compare(keyOf(a.Namespace, a.Name), keyOf(b.Namespace, b.Name))
}

func holdsQuota(w *kueue.Workload) bool {
	return w.Status.Admission != nil && !finish.IsFinished(w)
}

func (w *world) applyWorkload(raw json.RawMessage) {
	n := &kueue.Workload{}
	must(json.Unmarshal(raw, n))
	key := keyOf(n.Namespace, n.Name)
	if old := w.api.workloads[key]; old != nil {
		next := old.DeepCopy()
		next.Spec = n.Spec
		w.updateWorkload(key, next)
		return
	}
	if n.Spec.Active == nil {
		yes := true
		n.Spec.Active = &yes
	}
	if w.skip("Workload "+key, webhooks.ValidateWorkload(n, nil).ToAggregate()) {
		return
	}
	if n.CreationTimestamp.IsZero() {
		n.CreationTimestamp = metav1.NewTime(w.clock.Now())
	}
	n.Generation = 1
	w.api.workloads[key] = n
	if workload.IsAdmissible(n) {
		_ = w.queues.AddOrUpdateWorkload(w.log, w.adjusted(n))
	}
}

func (w *world) adjusted(n *kueue.Workload) *kueue.Workload {
	out := n.DeepCopy()
	workload.AdjustResources(w.ctx, w.api, out)
	return out
}

func (w *world) patch(p *patch) {
	key := keyOf(p.Namespace, p.Name)
	old := w.api.workloads[key]
	if p.Kind != "Workload" || old == nil {
		w.result.Skipped = append(w.result.Skipped, "patch of "+p.Kind+" "+key)
		return
	}
	data, err := json.Marshal(old)
	must(err)
	data, err = jsonpatch.MergePatch(data, p.Merge)
	must(err)
	next := &kueue.Workload{}
	must(json.Unmarshal(data, next))
	if p.Subresource == "status" {
		next.Spec = old.Spec
	} else {
		next.Status = old.Status
	}
	w.updateWorkload(key, next)
}

func (w *world) updateWorkload(key string, next *kueue.Workload) {
	old := w.api.workloads[key]
	refused := webhooks.ValidateWorkloadUpdate(next.DeepCopy(), old.DeepCopy()).ToAggregate()
	if w.skip("Workload "+key, refused) {
		return
	}
	// Nobody changes what has ended, and the schema holds a queue that gave quota.
	if finish.IsFinished(old) || (holdsQuota(old) && old.Spec.QueueName != next.Spec.QueueName) {
		w.result.Skipped = append(w.result.Skipped, "change of "+key)
		return
	}
	if !equality.Semantic.DeepEqual(old.Spec, next.Spec) {
		next.Generation++
	}
	if !workload.IsActive(next) && holdsQuota(next) {
		w.api.workloads[key] = next
		w.evict(key, kueue.WorkloadDeactivated)
		return
	}
	w.api.workloads[key] = next
	w.workloadChanged(old, next)
}

// workloadChanged tells the cache and the queues, as Kueue's controller of workloads does.
func (w *world) workloadChanged(old, now *kueue.Workload) {
	key := workload.Key(now)
	held, holds := workload.HasQuotaReservation(old), workload.HasQuotaReservation(now)
	switch {
	case finish.IsFinished(now) || !workload.IsActive(now):
		w.queues.DeleteWorkload(w.log, key)
		w.queues.AddFinishedWorkload(now.DeepCopy())
		w.queues.QueueAssociatedInadmissibleWorkloadsAfter(w.ctx, key, func() {
			_ = w.cache.DeleteWorkload(w.log, key)
		})
	case !held && !holds:
		_ = w.queues.AddOrUpdateWorkload(w.log, w.adjusted(now))
	case !held:
		w.queues.DeleteWorkload(w.log, key)
		w.cache.AddOrUpdateWorkload(w.log, w.adjusted(now))
	case !holds:
		w.queues.QueueAssociatedInadmissibleWorkloadsAfter(w.ctx, key, func() {
			_ = w.cache.DeleteWorkload(w.log, key)
			_ = w.queues.AddOrUpdateWorkloadWithoutLock(w.log, w.adjusted(now))
		})
	case !equality.Semantic.DeepEqual(old.Status.ReclaimablePods, now.Status.ReclaimablePods),
		// Kueue asks for a class beside the number; the measured cases give numbers only.
		!equality.Semantic.DeepEqual(old.Spec.Priority, now.Spec.Priority):
		w.queues.QueueAssociatedInadmissibleWorkloadsAfter(w.ctx, key, func() {
			w.cache.AddOrUpdateWorkload(w.log, w.adjusted(now))
		})
	default:
		w.cache.AddOrUpdateWorkload(w.log, w.adjusted(now))
	}
}

func (w *world) finish(key string) {
	old := w.api.workloads[key]
	if old == nil || !holdsQuota(old) {
		w.result.Skipped = append(w.result.Skipped, "finish of "+key)
		return
	}
	now := old.DeepCopy()
	apimeta.SetStatusCondition(&now.Status.Conditions, metav1.Condition{
		Type: kueue.WorkloadFinished, Status: metav1.ConditionTrue,
		Reason:             kueue.WorkloadFinishedReasonSucceeded,
		LastTransitionTime: metav1.NewTime(w.clock.Now()),
	})
	w.api.workloads[key] = now
	w.workloadChanged(old, now)
}
