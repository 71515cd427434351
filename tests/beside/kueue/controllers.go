package main

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"time"
	"unsafe"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	config "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/controller/core"
	"sigs.k8s.io/kueue/pkg/controller/jobframework"
	"sigs.k8s.io/kueue/pkg/workload"
	"sigs.k8s.io/kueue/pkg/workload/evict"
	"sigs.k8s.io/kueue/pkg/workload/finish"
)

// The controller of workloads, which evicts, deactivates and requeues, is Kueue's own. What that of
// jobs does is told here, but for the condition PodsReady that it makes. What is not exported there
// is reached by its linker name.

//go:linkname podsReadyConfig sigs.k8s.io/kueue/pkg/controller/core.waitForPodsReady
func podsReadyConfig(*config.WaitForPodsReady) unsafe.Pointer

//go:linkname withPodsReady sigs.k8s.io/kueue/pkg/controller/core.WithWaitForPodsReady
func withPodsReady(unsafe.Pointer) core.Option

//go:linkname podsReadyCondition sigs.k8s.io/kueue/pkg/controller/jobframework.generatePodsReadyCondition
func podsReadyCondition(
	context.Context, client.Client, jobframework.GenericJob, *kueue.Workload, clock.Clock,
) metav1.Condition

// pods are those of a workload, as its job sees them.
type pods struct {
	jobframework.GenericJob
	ready bool
}

func (p pods) PodsReady(context.Context, client.Client) bool { return p.ready }

func newReconciler(w *world) *core.WorkloadReconciler {
	r := core.NewWorkloadReconciler(w.api, w.queues, w.cache, silent{},
		core.WithPreemptionExpectations(w.expected), withPodsReady(podsReadyConfig(w.config.podsReady)))
	// Only Kueue's own tests can give it a clock.
	field := reflect.ValueOf(r).Elem().FieldByName("clock")
	reflect.NewAt(field.Type(), field.Addr().UnsafePointer()).Elem().Set(reflect.ValueOf(w.clock))
	return r
}

// podsReadySection reads waitForPodsReady of Sluice's configuration, which has Kueue's names.
func podsReadySection(c map[string]any) *config.WaitForPodsReady {
	section, given := c["waitForPodsReady"]
	if !given {
		return nil
	}
	base, most, order := int32(60), int32(3600), config.EvictionTimestamp
	out := &config.WaitForPodsReady{
		Timeout:         metav1.Duration{Duration: 30 * time.Minute},
		RecoveryTimeout: &metav1.Duration{Duration: 30 * time.Minute},
		RequeuingStrategy: &config.RequeuingStrategy{
			Timestamp: &order, BackoffBaseSeconds: &base, BackoffMaxSeconds: &most,
		},
	}
	data, err := json.Marshal(section)
	must(err)
	must(json.Unmarshal(data, out))
	return out
}

// follow lets the controllers work until none has anything to do. It returns who got quota, and
// whether anybody was evicted.
func (w *world) follow() (admitted []string, evicted bool) {
	for {
		changes := w.api.taken()
		if len(changes) == 0 && len(w.asked) == 0 {
			return admitted, evicted
		}
		slices.SortStableFunc(changes, func(a, b change) int {
			// Victims are written by several threads at once.
			return compareKeys(a.after, b.after)
		})
		for _, c := range changes {
			key := keyOf(c.after.Namespace, c.after.Name)
			w.workloadChanged(c.before, c.after)
			if w.saying {
				w.later[key] = true
			} else {
				w.asked[key] = true
			}
			if !workload.HasQuotaReservation(c.before) && workload.HasQuotaReservation(c.after) {
				admitted = append(admitted, key)
			}
			if workload.HasQuotaReservation(c.before) && !workload.IsAdmitted(c.before) &&
				workload.IsAdmitted(c.after) {
				w.passed = true
			}
			if by := endOf(w.api, c); by != nil {
				w.now.Evicted = append(w.now.Evicted, by)
				evicted = true
			}
		}
		asked := sorted(w.asked)
		clear(w.asked)
		for _, key := range asked {
			w.followJob(key)
		}
		for _, key := range asked {
			w.reconcile(key)
		}
	}
}

// endOf says how a reservation ends with a change, as an eviction; nil: it does not, or finished.
// The condition Evicted is also set on those that only waited, when they are turned off.
func endOf(s *server, c change) []string {
	switch {
	case !workload.HasQuotaReservation(c.before) || finish.IsFinished(c.after):
		return nil
	case !evict.IsEvicted(c.before) && evict.IsEvicted(c.after):
		return eviction(s, c.after)
	case evict.IsEvicted(c.after) || workload.HasQuotaReservation(c.after):
		return nil
	}
	// One that is not admitted yet ends without that condition where its queue stops.
	reason := kueue.WorkloadEvictedByClusterQueueStopped
	local := s.locals[keyOf(c.after.Namespace, string(c.after.Spec.QueueName))]
	if local != nil && stops(local.Spec.StopPolicy) != kueue.None {
		reason = kueue.WorkloadEvictedByLocalQueueStopped
	}
	return []string{keyOf(c.after.Namespace, c.after.Name), reason, ""}
}

func (w *world) reconcile(key string) {
	wl := w.api.workloads[key]
	delete(w.timers, key)
	if wl == nil {
		return
	}
	name := types.NamespacedName{Namespace: wl.Namespace, Name: wl.Name}
	result, err := w.reconciler.Reconcile(w.ctx, reconcile.Request{NamespacedName: name})
	must(err)
	if result.RequeueAfter > 0 {
		w.timers[key] = w.clock.Now().Add(result.RequeueAfter)
	}
}

// followJob is what the controller of a job does with its workload: the condition PodsReady, and
// the end of an eviction, since its pods end at once.
func (w *world) followJob(key string) {
	wl := w.api.workloads[key]
	if wl == nil {
		return
	}
	now := wl.DeepCopy()
	changed := false
	// Without a job, what is said of the pods of one who waits for checks stays.
	if w.config.podsReady != nil && (workload.IsAdmitted(now) || !workload.HasQuotaReservation(now)) {
		condition := podsReadyCondition(w.ctx, w.api, pods{ready: w.ready[key]}, now, w.clock)
		if !workload.HasConditionWithTypeAndReason(now, &condition) {
			changed = apimeta.SetStatusCondition(&now.Status.Conditions, condition)
		}
	}
	if evict.IsEvicted(now) && workload.HasQuotaReservation(now) {
		delete(w.ready, key)
		w.expected.ObservedUID(w.log, client.ObjectKeyFromObject(wl), wl.UID)
		why := apimeta.FindStatusCondition(now.Status.Conditions, kueue.WorkloadEvicted)
		requeued := why.Reason
		if evict.IsEvictedDueToDeactivationByKueue(now) && !*asReleased {
			requeued = kueue.WorkloadDeactivated
		}
		workload.SetRequeuedCondition(now, requeued, why.Message,
			why.Reason == kueue.WorkloadEvictedByPreemption)
		workload.UnsetQuotaReservationWithCondition(now, "Pending", why.Message, w.clock.Now())
		if until, delayed := w.delays[key]; delayed {
			workload.SetRequeueState(now, metav1.NewTime(until), false)
			delete(w.delays, key)
		}
		changed = true
	}
	if changed {
		w.api.write(key, now)
	}
}

// askOfQueue has the workloads of LocalQueues looked at, after a change of those or of their
// ClusterQueue.
func (w *world) askOfQueue(of func(*kueue.LocalQueue) bool) {
	for key, wl := range w.api.workloads {
		local := w.api.locals[keyOf(wl.Namespace, string(wl.Spec.QueueName))]
		if local != nil && of(local) {
			w.later[key] = true
		}
	}
}

// next is how far after the start the next instant is, with an event or a timer; false: there is
// none.
func (w *world) next(start time.Time, events []happening) (at time.Duration, any bool) {
	if len(events) > 0 {
		at, any = events[0].at, true
	}
	for _, t := range w.timers {
		if d := t.Sub(start); !any || d < at {
			at, any = d, true
		}
	}
	return at, any
}

// due lets those be looked at whose time has come.
func (w *world) due() {
	for key, t := range w.timers {
		if !t.After(w.clock.Now()) {
			w.asked[key] = true
		}
	}
}
