package main

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/api/equality"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	qcache "sigs.k8s.io/kueue/pkg/cache/queue"
	"sigs.k8s.io/kueue/pkg/webhooks"
)

func (w *world) applyFlavor(raw json.RawMessage) {
	f := &kueue.ResourceFlavor{}
	must(json.Unmarshal(raw, f))
	if w.skip("ResourceFlavor "+f.Name, webhooks.ValidateResourceFlavor(f).ToAggregate()) {
		return
	}
	old := w.api.flavors[f.Name]
	w.api.flavors[f.Name] = f
	touched := w.cache.AddOrUpdateResourceFlavor(w.log, f.DeepCopy())
	if old != nil && !equality.Semantic.DeepEqual(old.Spec, f.Spec) {
		touched.Insert(w.cache.ClusterQueuesUsingFlavor(kueue.ResourceFlavorReference(f.Name))...)
	}
	qcache.NotifyRetryInadmissible(w.queues, touched)
}

func (w *world) applyCohort(raw json.RawMessage) {
	c := &kueue.Cohort{}
	must(json.Unmarshal(raw, c))
	_, err := (&webhooks.CohortWebhook{}).ValidateCreate(w.ctx, c)
	if w.skip("Cohort "+c.Name, err) {
		return
	}
	old := w.api.cohorts[c.Name]
	w.api.cohorts[c.Name] = c
	if old != nil && equality.Semantic.DeepEqual(old.Spec, c.Spec) {
		return
	}
	// An error here says that there is a cycle; Kueue's controller then tells the queues nothing.
	if w.cache.AddOrUpdateCohort(c.DeepCopy()) == nil {
		w.queues.AddOrUpdateCohort(w.ctx, c.DeepCopy())
	}
}

// withDefaults fills in what the schema of the API says.
func withDefaults(q *kueue.ClusterQueue) {
	if q.Spec.QueueingStrategy == "" {
		q.Spec.QueueingStrategy = kueue.BestEffortFIFO
	}
	if q.Spec.Preemption == nil {
		q.Spec.Preemption = &kueue.ClusterQueuePreemption{}
	}
	if q.Spec.FlavorFungibility == nil {
		q.Spec.FlavorFungibility = &kueue.FlavorFungibility{}
	}
	if f := q.Spec.FlavorFungibility; f.WhenCanBorrow == "" {
		f.WhenCanBorrow = kueue.MayStopSearch
	}
	if f := q.Spec.FlavorFungibility; f.WhenCanPreempt == "" {
		f.WhenCanPreempt = kueue.TryNextFlavor
	}
	p := q.Spec.Preemption
	if p.ReclaimWithinCohort == "" {
		p.ReclaimWithinCohort = kueue.PreemptionPolicyNever
	}
	if p.WithinClusterQueue == "" {
		p.WithinClusterQueue = kueue.PreemptionPolicyNever
	}
	if p.BorrowWithinCohort == nil {
		p.BorrowWithinCohort = &kueue.BorrowWithinCohort{}
	}
	if p.BorrowWithinCohort.Policy == "" {
		p.BorrowWithinCohort.Policy = kueue.BorrowWithinCohortPolicyNever
	}
}

func (w *world) applyQueue(raw json.RawMessage) {
	q := &kueue.ClusterQueue{}
	must(json.Unmarshal(raw, q))
	withDefaults(q)
	if w.skip("ClusterQueue "+q.Name, webhooks.ValidateClusterQueue(q).ToAggregate()) {
		return
	}
	q.UID = types.UID("cq-" + q.Name)
	old := w.api.queues[q.Name]
	w.api.queues[q.Name] = q
	if old == nil {
		// An error says that there is a cycle of cohorts; Kueue's controllers go on then, too.
		_ = w.cache.AddClusterQueue(w.ctx, q.DeepCopy())
		must(w.queues.AddClusterQueue(w.ctx, q.DeepCopy()))
		return
	}
	if equality.Semantic.DeepEqual(old.Spec, q.Spec) {
		return
	}
	_ = w.cache.UpdateClusterQueue(w.log, q.DeepCopy())
	must(w.queues.UpdateClusterQueue(w.ctx, q.DeepCopy(), true))
	if stops(old.Spec.StopPolicy) != stops(q.Spec.StopPolicy) ||
		!equality.Semantic.DeepEqual(old.Spec.AdmissionChecksStrategy, q.Spec.AdmissionChecksStrategy) {
		w.askOfQueue(func(l *kueue.LocalQueue) bool { return string(l.Spec.ClusterQueue) == q.Name })
	}
}

// applyCheck takes an AdmissionCheck as its controller leaves it: Active.
func (w *world) applyCheck(raw json.RawMessage) {
	c := &kueue.AdmissionCheck{}
	must(json.Unmarshal(raw, c))
	apimeta.SetStatusCondition(&c.Status.Conditions, metav1.Condition{
		Type: kueue.AdmissionCheckActive, Status: metav1.ConditionTrue, Reason: "Active",
		LastTransitionTime: metav1.NewTime(w.clock.Now()),
	})
	qcache.NotifyRetryInadmissible(w.queues, w.cache.AddOrUpdateAdmissionCheck(w.log, c))
}

func stops(policy *kueue.StopPolicy) kueue.StopPolicy {
	if policy == nil {
		return kueue.None
	}
	return *policy
}

func (w *world) applyLocal(raw json.RawMessage) {
	q := &kueue.LocalQueue{}
	must(json.Unmarshal(raw, q))
	key := keyOf(q.Namespace, q.Name)
	old := w.api.locals[key]
	w.api.locals[key] = q
	was, is := kueue.None, stops(q.Spec.StopPolicy)
	if old != nil {
		was = stops(old.Spec.StopPolicy)
	}
	switch {
	case old == nil:
		if is == kueue.None {
			must(w.queues.AddLocalQueue(w.ctx, q.DeepCopy()))
		}
		must(w.cache.AddLocalQueue(q.DeepCopy()))
	case was == is:
	case is == kueue.None:
		must(w.queues.AddLocalQueue(w.ctx, q.DeepCopy()))
	default:
		w.queues.DeleteLocalQueue(w.log, q.DeepCopy())
	}
	if was != is {
		w.askOfQueue(func(l *kueue.LocalQueue) bool { return l == q })
	}
}
