package main

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	testingclock "k8s.io/utils/clock/testing"

	config "sigs.k8s.io/kueue/apis/config/v1beta2"
	qcache "sigs.k8s.io/kueue/pkg/cache/queue"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	"sigs.k8s.io/kueue/pkg/scheduler"
	"sigs.k8s.io/kueue/pkg/util/expectations"
	"sigs.k8s.io/kueue/pkg/workload"
	"sigs.k8s.io/kueue/pkg/workload/evict"
)

const (
	restCycles = 12  // in a row in which nothing moves: then an instant is at rest
	mostCycles = 400 // of one instant: then it is said never to settle
)

// world is one Kueue: its cache, queues and scheduler on a fake API with a virtual clock.
type world struct {
	ctx       context.Context
	log       logr.Logger
	api       *server
	clock     *testingclock.FakeClock
	cache     *schdcache.Cache
	queues    *qcache.Manager
	wake      func(context.Context) int
	scheduler *scheduler.Scheduler
	expected  *expectations.Store
	ending    map[string]bool // ClusterQueues that are deleted when they are empty
	now       *instant
	result    *expectation
}

type silent struct{}

func (silent) Eventf(_, _ runtime.Object, _, _, _, _ string, _ ...any) {}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func newWorld(start time.Time, fair *config.FairSharing) *world {
	w := &world{
		ctx: context.Background(), log: logr.Discard(), api: newServer(),
		clock: testingclock.NewFakeClock(start), expected: expectations.NewStore("preemption"),
		ending: map[string]bool{},
	}
	w.cache = schdcache.New(w.api, schdcache.WithFairSharing(fair != nil))
	manager, requeuer := qcache.NewManagerForUnitTestsWithRequeuer(w.api, w.cache,
		qcache.WithClock(w.clock), qcache.WithPreemptionExpectations(w.expected))
	w.queues, w.wake = manager, requeuer.ProcessRequeues
	options := []scheduler.Option{
		scheduler.WithClock(nil, w.clock), scheduler.WithPreemptionExpectations(w.expected),
	}
	if fair != nil {
		options = append(options, scheduler.WithFairSharing(fair))
	}
	w.scheduler = scheduler.New(w.queues, w.cache, w.api, silent{}, options...)
	setAdmissionRoutineWrapper(w.scheduler, inline{})
	return w
}

// play runs a scenario and returns what was decided.
func play(s *scenario, fair *config.FairSharing) *expectation {
	w := newWorld(s.start, fair)
	w.result = &expectation{Instants: []*instant{}}
	for _, raw := range s.objects {
		w.apply(raw)
	}
	times := []time.Duration{0}
	for _, e := range s.events {
		times = append(times, e.at)
	}
	slices.Sort(times)
	for _, at := range slices.Compact(times) {
		w.clock.SetTime(s.start.Add(at))
		w.now = &instant{T: at.Seconds()}
		any := at != 0
		for _, e := range s.events {
			if e.at == at {
				w.happen(e)
				any = true
			}
		}
		w.drain()
		w.settleDeletions()
		w.wake(w.ctx)
		if !w.rest() {
			w.result.UnsettledFrom = &w.now.T
			return w.result
		}
		if !any && len(w.now.Cycles) == 0 && len(w.api.workloads) == 0 {
			continue
		}
		w.now.state(w.api)
		w.now.sort()
		w.result.Instants = append(w.result.Instants, w.now)
	}
	return w.result
}

// places says who is in a heap, and who is parked.
func (w *world) places() map[string]bool {
	out := map[string]bool{}
	for _, keys := range w.queues.Dump() {
		for _, k := range keys {
			out[string(k)] = true
		}
	}
	for _, keys := range w.queues.DumpInadmissible() {
		for _, k := range keys {
			out[string(k)] = false
		}
	}
	return out
}

// hasHead says whether a cycle would have anything to do; Kueue waits for that.
func (w *world) hasHead() bool {
	for queue := range w.queues.Dump() {
		if w.cache.ClusterQueueActive(queue) {
			return true
		}
	}
	return false
}

// rest runs cycles until the instant is over. False: it does not come to an end.
func (w *world) rest() bool {
	idle := 0
	for range mostCycles {
		if idle == restCycles || !w.hasHead() {
			return true
		}
		before := w.places()
		schedule(w.scheduler, w.ctx)
		decided := w.observe()
		w.settleDeletions()
		w.wake(w.ctx)
		if decided || !maps.Equal(before, w.places()) {
			idle = 0
		} else {
			idle++
		}
	}
	return false
}

// observe does after a cycle what Kueue's controllers do about its writes, and completes evictions.
func (w *world) observe() bool {
	var admitted, evicted []string
	changes := w.api.taken()
	slices.SortStableFunc(changes, func(a, b change) int {
		// Victims are written by several threads at once.
		return compareKeys(a.after, b.after)
	})
	for _, c := range changes {
		w.workloadChanged(c.before, c.after)
		key := keyOf(c.after.Namespace, c.after.Name)
		if !workload.HasQuotaReservation(c.before) && workload.HasQuotaReservation(c.after) {
			admitted = append(admitted, key)
		}
		if !evict.IsEvicted(c.before) && evict.IsEvicted(c.after) {
			evicted = append(evicted, key)
		}
	}
	for _, key := range evicted {
		w.now.Evicted = append(w.now.Evicted, eviction(w.api, w.api.workloads[key]))
		w.completeEviction(key)
	}
	if len(admitted) > 0 {
		w.now.Cycles = append(w.now.Cycles, admitted)
	}
	return len(admitted)+len(evicted) > 0
}
