package sluice

import (
	"encoding/json"
	"sync"
	"sync/atomic"
	"time"
)

// Host is what the host does for a plugin. Objects and State within a call only, on its goroutine;
// all else from any goroutine.
type Host struct {
	Objects Objects
	State   State

	wire      *Wire
	simulated atomic.Bool
	now       atomic.Int64
	asking    sync.Mutex // guards what follows
	inCall    bool
	requests  int64
}

func newHost(wire *Wire) *Host {
	host := &Host{wire: wire}
	host.Objects.host, host.State.host = host, host
	return host
}

// Simulated: nothing outside is real. Start no program, send nothing.
func (h *Host) Simulated() bool { return h.simulated.Load() }

// Now is the time on the host's clock. Never ask the machine for it.
func (h *Host) Now() time.Time {
	if h.Simulated() {
		return time.Unix(0, h.now.Load()).UTC()
	}
	return time.Now().UTC()
}

// SetTimer has Timer(number) called at that time.
func (h *Host) SetTimer(number int64, at time.Time) {
	h.note(Object{"note": "timer", "timer": number, "at": at.UnixNano()})
}

// CancelTimer takes it back.
func (h *Host) CancelTimer(number int64) { h.note(Object{"note": "timer", "timer": number}) }

// Debug, Info, Warn and Error write into the host's log.
func (h *Host) Debug(text string) { h.log(0, text) }
func (h *Host) Info(text string)  { h.log(1, text) }
func (h *Host) Warn(text string)  { h.log(2, text) }
func (h *Host) Error(text string) { h.log(3, text) }

func (h *Host) log(level int, text string) {
	h.note(Object{"note": "log", "level": level, "text": text})
}

// Event is one about an object, for `kubectl describe`; the reason is one word.
func (h *Host) Event(about ObjectRef, warning bool, reason, message string) {
	h.note(Object{"note": "event", "apiVersion": about.APIVersion, "kind": about.Kind,
		"namespace": about.Namespace, "name": about.Name, "reason": reason, "message": message,
		"warning": warning})
}

// Label is one of a metric.
type Label struct{ Name, Value string }

// Count adds to the counter sluice_plugin_PLUGIN_NAME.
func (h *Host) Count(name, help string, by int64, labels ...Label) {
	h.metric(name, help, labels, Object{"add": by, "gauge": false})
}

// Gauge sets the gauge sluice_plugin_PLUGIN_NAME.
func (h *Host) Gauge(name, help string, value int64, labels ...Label) {
	h.metric(name, help, labels, Object{"set": value, "gauge": true})
}

func (h *Host) metric(name, help string, labels []Label, note Object) {
	names, values := []string{}, []string{}
	for _, label := range labels {
		names, values = append(names, label.Name), append(values, label.Value)
	}
	if help == "" {
		help = name
	}
	note["note"], note["name"], note["help"] = "metric", name, help
	note["labels"], note["values"] = names, values
	h.note(note)
}

// Report says what became of an attempt. What makes no sense is refused, and logged by the host.
func (h *Host) Report(attempt Attempt, answer CheckAnswer) {
	note := Object{"note": "report", "namespace": attempt.Namespace, "name": attempt.Name,
		"uid": attempt.UID, "check": attempt.Check, "attempt": attempt.Number,
		"state": answer.State, "reason": "", "message": answer.Message}
	if answer.PreemptionRequired {
		note["reason"] = "PreemptionRequired"
	}
	if answer.AfterSeconds != 0 {
		note["requeueAfterSeconds"] = answer.AfterSeconds
	}
	if len(answer.PodSetUpdates) > 0 {
		note["podSetUpdates"] = answer.PodSetUpdates
	}
	h.note(note)
}

// Requeue gives a parked workload (`namespace/name`) another turn.
func (h *Host) Requeue(workload string) {
	h.note(Object{"note": "requeue", "workload": workload})
}

// mostShown is how much of a text in a note is sent: the host shows less, and a note of more than
// 1 MiB would end the process.
const mostShown = 64 << 10

// When the host is gone the loop ends; nobody else has to know.
func (h *Host) note(message Object) {
	for name, value := range message {
		if text, ok := value.(string); ok && len(text) > mostShown {
			message[name] = text[:mostShown]
		}
	}
	_ = h.wire.Send(message)
}

// ask puts a request of the call that is under way.
func (h *Host) ask(service string, request Object, result any) error {
	h.asking.Lock()
	defer h.asking.Unlock()
	if !h.inCall {
		return &ObjectError{"NotNow",
			"objects and state may be used within a call of the host only"}
	}
	h.requests++
	request["request"], request["service"] = h.requests, service
	if err := h.wire.Send(request); err != nil {
		return err
	}
	var reply struct {
		Reply       int64
		Result      json.RawMessage
		Code, Error string
	}
	if err := h.wire.Receive(&reply); err != nil {
		return err
	}
	if reply.Code != "" {
		return &ObjectError{reply.Code, reply.Error}
	}
	if result == nil || len(reply.Result) == 0 {
		return nil
	}
	return decode(reply.Result, result)
}

func (h *Host) setInCall(inCall bool) {
	h.asking.Lock()
	defer h.asking.Unlock()
	h.inCall = inCall
}
