package main

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	testingclock "k8s.io/utils/clock/testing"

	qcache "sigs.k8s.io/kueue/pkg/cache/queue"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	"sigs.k8s.io/kueue/pkg/controller/core"
	"sigs.k8s.io/kueue/pkg/scheduler"
	"sigs.k8s.io/kueue/pkg/util/expectations"
)

const (
	restCycles = 12  // in a row in which nothing moves: then an instant is at rest
	mostCycles = 400 // of one instant: then it is said never to settle

	// With timers of its own a world goes on for so long after its last event.
	afterEvents = time.Hour
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

	config     configuration
	standing   *standing
	reconciler *core.WorkloadReconciler
	asked      map[string]bool      // workloads that the controllers have to look at
	later      map[string]bool      // and those that they come to after all events of an instant
	saying     bool                 // a check is answered
	timers     map[string]time.Time // when they want to look again by themselves
	ready      map[string]bool      // workloads whose pods are ready
	passed     bool                 // in this instant the checks of somebody became Ready
	delays     map[string]time.Time // until when a Retry keeps those that it evicts away

	now    *instant
	result *expectation
}

type silent struct{}

func (silent) Eventf(_, _ runtime.Object, _, _, _, _ string, _ ...any) {}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func newWorld(start time.Time, c configuration) *world {
	w := &world{
		ctx: context.Background(), log: logr.Discard(), api: newServer(),
		clock: testingclock.NewFakeClock(start), expected: expectations.NewStore("preemption"),
		ending: map[string]bool{}, config: c, standing: newStanding(),
		asked: map[string]bool{}, later: map[string]bool{}, timers: map[string]time.Time{},
		ready: map[string]bool{}, delays: map[string]time.Time{},
	}
	w.cache = schdcache.New(w.api, schdcache.WithFairSharing(c.fair != nil),
		schdcache.WithPodsReadyTracking(c.blocks()))
	manager, requeuer := qcache.NewManagerForUnitTestsWithRequeuer(w.api, w.cache,
		qcache.WithClock(w.clock), qcache.WithPreemptionExpectations(w.expected),
		qcache.WithPodsReadyRequeuingTimestamp(c.timestamp()))
	w.queues, w.wake = manager, requeuer.ProcessRequeues
	options := []scheduler.Option{
		scheduler.WithClock(nil, w.clock), scheduler.WithPreemptionExpectations(w.expected),
		scheduler.WithPodsReadyRequeuingTimestamp(c.timestamp()),
	}
	if c.fair != nil {
		options = append(options, scheduler.WithFairSharing(c.fair))
	}
	w.scheduler = scheduler.New(w.queues, w.cache, w.api, silent{}, options...)
	setAdmissionRoutineWrapper(w.scheduler, inline{})
	w.reconciler = newReconciler(w)
	return w
}

// play runs a scenario and returns what was decided.
func play(s *scenario, c configuration) *expectation {
	w := newWorld(s.start, c)
	w.result = &expectation{Instants: []*instant{}}
	for _, raw := range s.objects {
		w.apply(raw)
	}
	end := time.Duration(0)
	if len(s.events) > 0 {
		end = s.events[len(s.events)-1].at
	}
	if c.podsReady != nil || s.hasChecks() {
		end += afterEvents
		until := end.Seconds()
		w.result.Until = &until
	}
	events := s.events
	for at, any := time.Duration(0), true; any && at <= end; at, any = w.next(s.start, events) {
		w.clock.SetTime(s.start.Add(at))
		w.now = &instant{T: at.Seconds()}
		happens := at != 0
		w.passed = false
		w.due()
		w.follow()
		for ; len(events) > 0 && events[0].at <= at; events = events[1:] {
			w.happen(events[0])
			w.follow()
			happens = true
		}
		maps.Copy(w.asked, w.later)
		clear(w.later)
		w.follow()
		w.settleDeletions()
		w.wake(w.ctx)
		if !w.rest() {
			w.result.UnsettledFrom = &w.now.T
			return w.result
		}
		if !happens && len(w.now.Cycles) == 0 && len(w.api.workloads) == 0 {
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
	if w.passed {
		// Sluice looks at it once more in a cycle (KEP-993). How far a head that is tried in each
		// cycle gets with its flavors is a matter of their number.
		idle = -1
	}
	for range mostCycles {
		if idle == restCycles || (!w.hasHead() && w.standing.done == nil) {
			return true
		}
		before := w.places()
		stands := !w.cycle()
		decided := w.observe()
		w.settleDeletions()
		w.wake(w.ctx)
		if stands && !w.cache.PodsReadyForAllAdmittedWorkloads(w.log) {
			return true
		}
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
	admitted, evicted := w.follow()
	if len(admitted) > 0 {
		w.now.Cycles = append(w.now.Cycles, admitted)
	}
	return len(admitted) > 0 || evicted
}
