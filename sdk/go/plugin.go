// Package sluice is for plugins of Sluice that run in a process of their own.
//
//	func main() {
//		sluice.Main(sluice.Plugin{
//			Name:             "office-hours",
//			CheckControllers: []string{"example.com/office-hours"},
//			New:              func(host *sluice.Host, config json.RawMessage) (any, error) { … },
//		})
//	}
//
// What New gives provides an extension point by having its method: see the interfaces below. The
// host asks one question at a time; what takes long belongs into Decide, which has goroutines.
package sluice

import (
	"encoding/json"
	"time"
)

// Plugin says what a plugin is.
type Plugin struct {
	// Name is the one under which the configuration of the host lists it.
	Name, Version, Description string
	// ConfigSchema is the JSON Schema of the configuration; nil: it takes none.
	// docs/plugins/configuration.md lists the keywords.
	ConfigSchema json.RawMessage
	// CheckControllers are the values of spec.controllerName that it answers for.
	CheckControllers []string
	// ToldEvents are those that Notify is called for: `Admitted`, or `Admitted claimed`, which is
	// of workloads that the plugin claims. None: all.
	ToldEvents []string
	// WatchedKinds, each `GROUP/VERSION KIND`: objects that Reconcile is called for.
	WatchedKinds []string
	// ValidatedKinds, each `GROUP/KIND`: objects whose writes Validate and SetDefaults see.
	ValidatedKinds []string
	// Schema is what it adds to kinds (docs/plugins/schema.md); nil: nothing.
	Schema json.RawMessage
	// New makes the plugin; `config` was checked against the schema, and defaults are filled in.
	New func(host *Host, config json.RawMessage) (any, error)
}

// Attempt is what a report is about.
type Attempt struct {
	Namespace, Name, UID, Check string
	Number                      int64
}

// CheckQuery is an attempt that begins.
type CheckQuery struct {
	Attempt    Attempt
	RetryCount int64
	Workload   Object // v1beta2, with its present status
	Check      Object // the AdmissionCheck
}

// CheckCancel is an attempt that is over.
type CheckCancel struct {
	Attempt Attempt
	Why     string
}

// ObjectRef names an object.
type ObjectRef struct{ APIVersion, Kind, Namespace, Name string }

// Write is one that is judged: Operation is Create, Update or Delete.
type Write struct {
	Operation, APIVersion, Kind string
	Object, Old                 Object
	User                        string // who writes; empty: the host itself
}

// Notification is what was decided: Reserved, Preempting, WaitingForVictims, Admitted,
// ReservationLost, Evicted, Deactivated or Finished. Ignore events that you do not know.
type Notification struct {
	Event    string
	Sequence int64
	Workload Object
	Reason   string
	Others   []string
}

// BeginChecker is asked when an attempt begins, and must not wait for anything. nil: it reports
// later, with Host.Report.
type BeginChecker interface {
	BeginCheck(query CheckQuery) (*CheckAnswer, error)
}

// Decider is asked instead on a goroutine, where it may wait. After an error it is asked again,
// after 1 s, 2 s, … 5 min. In a simulation it is asked within the call.
type Decider interface {
	Decide(query CheckQuery) (CheckAnswer, error)
}

// CheckChanger is told when an AdmissionCheck comes, changes or goes (nil).
type CheckChanger interface {
	CheckChanged(name string, check Object) (Activity, error)
}

// CheckExplainer says in sentences what there is to say of an attempt beside its state, to whoever
// asks why the workload is where it is.
type CheckExplainer interface {
	ExplainCheck(query CheckQuery) ([]string, error)
}

// CheckCanceler is told when nobody waits for the answer any more.
type CheckCanceler interface {
	CancelCheck(cancel CheckCancel) error
}

// Reconciler is called for objects of WatchedKinds; it is called again after so long (0: when
// something changes; less: at once).
type Reconciler interface {
	Reconcile(what ObjectRef) (time.Duration, error)
}

// Validator judges writes of ValidatedKinds; nothing: it accepts.
type Validator interface {
	Validate(write Write) ([]FieldError, error)
}

// Defaulter gives the whole object as it is to be; nil: as it is.
type Defaulter interface {
	SetDefaults(write Write) (Object, error)
}

// Notified is told what was decided.
type Notified interface {
	Notify(told Notification) error
}

// Timed is called when a timer is due (Host.SetTimer).
type Timed interface {
	Timer(number int64) error
}

// Activator is told that from now on the others are called.
type Activator interface{ Activate() error }

// Deactivator is told that nothing is called any more; the process is ended.
type Deactivator interface{ Deactivate() error }
