package main

import (
	"context"
	"strings"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"
)

// With blockAdmission a cycle of Kueue's scheduler stands still in its middle until all pods are
// ready, and goes on then with what it had nominated before. So it runs beside the clock; what it
// logs says where it stands, and holds it until it may go on.
type standing struct {
	blocked chan bool // it begins to wait
	ready   chan bool // it has waited, and wants to go on
	goOn    chan bool
	done    chan bool // closed when its cycle is over; nil: there is no cycle
}

func newStanding() *standing {
	return &standing{
		blocked: make(chan bool, 1), ready: make(chan bool), goOn: make(chan bool),
	}
}

func (s *standing) Init(logr.RuntimeInfo)          {}
func (s *standing) Enabled(int) bool               { return true }
func (s *standing) Error(error, string, ...any)    {}
func (s *standing) WithValues(...any) logr.LogSink { return s }
func (s *standing) WithName(string) logr.LogSink   { return s }

func (s *standing) Info(_ int, message string, _ ...any) {
	switch {
	case strings.HasPrefix(message, "Blocking admission as not all workloads"):
		select {
		case s.blocked <- true:
		default:
		}
	case strings.HasPrefix(message, "Finished waiting for all admitted workloads"):
		s.ready <- true
		<-s.goOn
	}
}

// cycle runs one, or goes on with the one that stands; false: it stands.
func (w *world) cycle() bool {
	if !w.config.blocks() {
		schedule(w.scheduler, w.ctx)
		return true
	}
	s := w.standing
	if s.done == nil {
		s.done = make(chan bool)
		go func() {
			schedule(w.scheduler, ctrl.LoggerInto(context.Background(), logr.New(s)))
			close(s.done)
		}()
	} else {
		if !w.cache.PodsReadyForAllAdmittedWorkloads(w.log) {
			return false
		}
		<-s.ready
		select { // it began to wait more than once
		case <-s.blocked:
		default:
		}
		s.goOn <- true
	}
	select {
	case <-s.done:
		s.done = nil
		return true
	case <-s.blocked:
		return false
	}
}
