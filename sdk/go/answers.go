package sluice

import "fmt"

// Object is an object of the API, as encoding/json gives it; numbers are json.Number.
type Object = map[string]any

// CheckAnswer is what became of an attempt at a check; made by Pending, Ready, Retry and Rejected.
type CheckAnswer struct {
	State, Message     string
	PreemptionRequired bool
	AfterSeconds       int64          // of Retry; 0: the host decides
	PodSetUpdates      []PodSetUpdate // of Ready
}

// PodSetUpdate is what the pods of a pod set get in addition.
type PodSetUpdate struct {
	Name         string            `json:"name"`
	Labels       map[string]string `json:"labels,omitempty"`
	Annotations  map[string]string `json:"annotations,omitempty"`
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`
	Tolerations  []Object          `json:"tolerations,omitempty"`
}

// Pending: still at work.
func Pending(message string) CheckAnswer { return CheckAnswer{State: "Pending", Message: message} }

// PendingForPreemption: still at work, and it can only pass when others give way.
func PendingForPreemption(message string) CheckAnswer {
	return CheckAnswer{State: "Pending", Message: message, PreemptionRequired: true}
}

// Ready: passed.
func Ready(message string, updates ...PodSetUpdate) CheckAnswer {
	return CheckAnswer{State: "Ready", Message: message, PodSetUpdates: updates}
}

// Retry: not now. The workload is evicted, and tried again after so many seconds (0: when the host
// finds it right).
func Retry(message string, afterSeconds int64) CheckAnswer {
	return CheckAnswer{State: "Retry", Message: message, AfterSeconds: afterSeconds}
}

// Rejected: not at all. The workload is deactivated.
func Rejected(message string) CheckAnswer { return CheckAnswer{State: "Rejected", Message: message} }

// Activity says whether a check can be carried out; made by Active and Inactive.
type Activity struct {
	IsActive        bool
	Reason, Message string
}

// Active: it can.
func Active(message string) Activity { return Activity{true, "Active", message} }

// Inactive: it cannot; the reason is one word, for example BadParametersRef.
func Inactive(reason, message string) Activity { return Activity{false, reason, message} }

// FieldError says why a write is refused: a field by its path (`spec.x[0].y`), its value, what is
// allowed.
type FieldError struct {
	Kind   string `json:"kind"` // Invalid ("" is that), Required, Forbidden, NotSupported, Duplicate
	Path   string `json:"path"`
	Value  any    `json:"value,omitempty"`
	Detail string `json:"detail"`
}

// Refused is the error of New and Activate by which a plugin refuses its configuration.
type Refused string

func (r Refused) Error() string { return string(r) }

// Refusedf is a Refused with a formatted sentence.
func Refusedf(format string, args ...any) error { return Refused(fmt.Sprintf(format, args...)) }

// TellMeAgain is the error of Notify that says: not now.
type TellMeAgain struct{}

func (TellMeAgain) Error() string { return "not now" }

// ObjectError is what the host said to a request. Code: NotFound, AlreadyExists, Conflict, Invalid,
// Forbidden, NotNow or Failed.
type ObjectError struct{ Code, Text string }

func (e *ObjectError) Error() string { return e.Code + ": " + e.Text }
