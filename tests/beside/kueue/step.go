package main

import (
	"context"
	_ "unsafe" // for go:linkname

	"sigs.k8s.io/kueue/pkg/scheduler"
	"sigs.k8s.io/kueue/pkg/util/routine"
	"sigs.k8s.io/kueue/pkg/util/wait"
)

// Kueue's scheduler runs its cycles in a loop of its own; a virtual clock needs them one by one,
// so the two methods for that are reached by their linker names. No file of Kueue is changed or
// copied.

//go:linkname schedule sigs.k8s.io/kueue/pkg/scheduler.(*Scheduler).schedule
func schedule(*scheduler.Scheduler, context.Context) wait.SpeedSignal

//go:linkname setAdmissionRoutineWrapper sigs.k8s.io/kueue/pkg/scheduler.(*Scheduler).setAdmissionRoutineWrapper
func setAdmissionRoutineWrapper(*scheduler.Scheduler, routine.Wrapper)

// inline runs the write of an admission before the cycle goes on, so that each run is the same.
type inline struct{}

func (inline) Run(f func()) { f() }
