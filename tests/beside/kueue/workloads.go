package main

import (
	"encoding/json"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sigs.k8s.io/controller-runtime/pkg/event"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/util/admissioncheck"
	"sigs.k8s.io/kueue/pkg/webhooks"
	"sigs.k8s.io/kueue/pkg/workload"
	"sigs.k8s.io/kueue/pkg/workload/finish"
	"sigs.k8s.io/kueue/pkg/workload/patching"
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
	w.asked[key] = true
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
	said := &kueue.Workload{}
	must(json.Unmarshal(p.Merge, said))
	if p.Subresource == "status" && len(said.Status.AdmissionChecks) > 0 {
		w.answer(key, said.Status.AdmissionChecks)
		return
	}
	if p.Subresource == "status" && len(said.Status.Conditions) > 0 {
		w.sayReady(key, said.Status.Conditions[0])
		return
	}
	next, err := merged(old, p.Merge)
	must(err)
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
	w.api.write(key, next)
}

// answer is what the controllers of checks say of a reservation. One that comes after its end, or
// is of a check that the workload does not have, is nobody's: controllers look before they write.
func (w *world) answer(key string, said []kueue.AdmissionCheckState) {
	now := w.api.workloads[key].DeepCopy()
	late := !holdsQuota(now)
	for _, state := range said {
		late = late || admissioncheck.FindAdmissionCheck(now.Status.AdmissionChecks, state.Name) == nil
	}
	if late {
		w.result.Skipped = append(w.result.Skipped, "late answer for "+key)
		return
	}
	for _, state := range said {
		if after := state.RequeueAfterSeconds; after != nil && !*asReleased &&
			state.State == kueue.CheckStateRetry {
			w.delays[key] = state.LastTransitionTime.Add(time.Duration(*after) * time.Second)
			state.RequeueAfterSeconds = nil
		}
		patching.SetAdmissionCheckState(&now.Status.AdmissionChecks, state, w.clock)
	}
	w.api.write(key, now)
	// What several say at one instant counts together.
	w.saying = true
	w.follow()
	w.saying = false
}

// sayReady is about the pods of a workload that holds quota.
func (w *world) sayReady(key string, condition metav1.Condition) {
	now := w.api.workloads[key].DeepCopy()
	if condition.Type != kueue.WorkloadPodsReady || !holdsQuota(now) {
		w.result.Skipped = append(w.result.Skipped, "condition of "+key)
		return
	}
	w.ready[key] = condition.Status == metav1.ConditionTrue
	condition.LastTransitionTime = metav1.NewTime(w.clock.Now())
	if apimeta.SetStatusCondition(&now.Status.Conditions, condition) {
		w.api.write(key, now)
	}
}

// workloadChanged tells the cache and the queues, as Kueue's controller of workloads does.
func (w *world) workloadChanged(old, now *kueue.Workload) {
	key := workload.Key(now)
	if holdsQuota(now) && !equality.Semantic.DeepEqual(old.Spec.Priority, now.Spec.Priority) {
		// Kueue asks for a class beside the number; the measured cases give numbers only.
		w.queues.QueueAssociatedInadmissibleWorkloadsAfter(w.ctx, key, func() {
			w.cache.AddOrUpdateWorkload(w.log, w.adjusted(now))
		})
		return
	}
	now = now.DeepCopy()
	if state := now.Status.RequeueState; state != nil && state.RequeueAt != nil {
		// The real clock decides there whether that is still to come.
		left := state.RequeueAt.Sub(w.clock.Now())
		if !workload.HasQuotaReservation(now) && workload.HasQuotaReservation(old) && left > 0 {
			state.RequeueAt = &metav1.Time{Time: time.Now().Add(left + time.Hour)}
		}
	}
	w.reconciler.Update(event.TypedUpdateEvent[*kueue.Workload]{ObjectOld: old, ObjectNew: now})
}

func (w *world) finish(key string) {
	old := w.api.workloads[key]
	if old == nil || !holdsQuota(old) || !workload.IsAdmitted(old) {
		w.result.Skipped = append(w.result.Skipped, "finish of "+key)
		return
	}
	now := old.DeepCopy()
	apimeta.SetStatusCondition(&now.Status.Conditions, metav1.Condition{
		Type: kueue.WorkloadFinished, Status: metav1.ConditionTrue,
		Reason:             kueue.WorkloadFinishedReasonSucceeded,
		LastTransitionTime: metav1.NewTime(w.clock.Now()),
	})
	w.api.write(key, now)
}
