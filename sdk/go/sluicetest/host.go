// Package sluicetest is a host for the unit tests of plugins: it asks as a host does, over the same
// frames, and keeps what the plugin says.
//
//	host := sluicetest.New(t, plugin, `{"fromHour": 8}`)
//	host.Time = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
//	host.Begin("train")
//	if host.Reports["train"].State != "Ready" { … }
//
// It is a simulation: the time goes where the test sets it, and Decide is asked within the call. One
// goroutine uses it.
package sluicetest

import (
	"encoding/json"
	"net"
	"testing"
	"time"

	sluice "sluice.dev/sdk"
)

// Report is what the plugin said of a workload's check.
type Report struct {
	State, Message, Reason string
	AfterSeconds           int64                 `json:"requeueAfterSeconds"`
	PodSetUpdates          []sluice.PodSetUpdate `json:"podSetUpdates"`
}

// Host plays a host.
type Host struct {
	// Time is what the plugin is told.
	Time time.Time
	// Reports by the name of the workload, the last of each.
	Reports map[string]Report
	// Timers that the plugin set, by number.
	Timers map[int64]time.Time
	// Logged lines of the plugin.
	Logged []string
	// Points that it provides.
	Points map[string]any
	// Objects that it finds, by APIVersion, kind, namespace and name; all that it does with objects
	// is Get and what a test brings with Serve.
	Objects map[sluice.ObjectRef]sluice.Object
	// Serve answers the requests that Objects does not; nil: they are NotFound.
	Serve func(service string, request map[string]any) (result any, err *sluice.ObjectError)

	t        testing.TB
	wire     *sluice.Wire
	calls    int64
	attempts int64
}

type message struct {
	Hello   *struct{ Name string }
	Answer  int64
	Failed  *string
	Refused *string
	Retry   bool
	Points  map[string]any
	Errors  []sluice.FieldError
	Lines   []string
	Object  sluice.Object
	AgainMs int64 `json:"againAfterMs"`
	Active  *bool
	Reason  string

	Note, Name, Text string
	Timer            int64
	At               *int64
	Report

	Request                          int64
	Service                          string
	APIVersion, Kind, Namespace, Key string
}

// New creates and activates the plugin; `config` as JSON, "": {}. A plugin that refuses it fails the
// test.
func New(t testing.TB, plugin sluice.Plugin, config string) *Host {
	t.Helper()
	if config == "" {
		config = "{}"
	}
	ours, its := net.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- sluice.Serve(plugin, its) }()
	h := &Host{Time: time.Unix(0, 0).UTC(), Reports: map[string]Report{},
		Timers: map[int64]time.Time{}, Objects: map[sluice.ObjectRef]sluice.Object{}, t: t,
		wire: sluice.NewWire(ours)}
	t.Cleanup(func() {
		_ = ours.Close()
		<-ended
	})
	h.send(map[string]any{"hello": map[string]any{"protocol": sluice.Protocol,
		"revision": sluice.Revision, "host": "test", "plugin": plugin.Name}})
	if said, _ := h.receive(); said.Hello == nil || said.Hello.Name != plugin.Name {
		t.Fatalf("it did not say hello as %s", plugin.Name)
	}
	h.Points = h.call("plugin.create", map[string]any{"config": json.RawMessage(config),
		"simulated": true}).Points
	h.call("plugin.activate", nil)
	return h
}

// Begin begins an attempt at the check `check` of a workload of this name, with these labels.
func (h *Host) Begin(name string, labels ...string) {
	h.t.Helper()
	marks := map[string]string{}
	for i := 0; i+1 < len(labels); i += 2 {
		marks[labels[i]] = labels[i+1]
	}
	h.attempts++
	h.call("check-controller.begin", map[string]any{"attempt": h.attempts, "retryCount": 0,
		"check": "check", "checkObject": map[string]any{"metadata": map[string]any{"name": "check"}},
		"workload": map[string]any{"metadata": map[string]any{"namespace": "default", "name": name,
			"uid": "uid-" + name, "labels": marks}}})
}

// Explain gives what there is to say of the attempt that began last, for a workload of this name.
func (h *Host) Explain(name string) []string {
	h.t.Helper()
	return h.call("check-controller.explain", map[string]any{"attempt": h.attempts,
		"check": "check", "checkObject": map[string]any{"metadata": map[string]any{"name": "check"}},
		"workload": map[string]any{"metadata": map[string]any{"namespace": "default", "name": name,
			"uid": "uid-" + name}}}).Lines
}

// Validate has a write judged.
func (h *Host) Validate(write sluice.Write) []sluice.FieldError {
	h.t.Helper()
	return h.call("validator.validate", members(write)).Errors
}

// SetDefaults gives the object as the plugin wants it; nil: as it is.
func (h *Host) SetDefaults(write sluice.Write) sluice.Object {
	h.t.Helper()
	return h.call("validator.set_defaults", members(write)).Object
}

// Reconcile has an object looked at, and gives after how long that is wanted again.
func (h *Host) Reconcile(what sluice.ObjectRef) time.Duration {
	h.t.Helper()
	again := h.call("controller.reconcile", map[string]any{"apiVersion": what.APIVersion,
		"kind": what.Kind, "namespace": what.Namespace, "name": what.Name}).AgainMs
	return time.Duration(again) * time.Millisecond
}

// Fire calls the timer of this number.
func (h *Host) Fire(number int64) {
	h.t.Helper()
	delete(h.Timers, number)
	h.call("timers.fired", map[string]any{"timer": number})
}

func members(write sluice.Write) map[string]any {
	return map[string]any{"operation": write.Operation, "apiVersion": write.APIVersion,
		"kind": write.Kind, "object": write.Object, "old": write.Old, "user": write.User}
}

func (h *Host) send(message map[string]any) {
	h.t.Helper()
	if err := h.wire.Send(message); err != nil {
		h.t.Fatal(err)
	}
}

func (h *Host) receive() (message, map[string]any) {
	h.t.Helper()
	var raw json.RawMessage
	if err := h.wire.Receive(&raw); err != nil {
		h.t.Fatalf("the plugin is gone: %v", err)
	}
	var said message
	var whole map[string]any
	if err := json.Unmarshal(raw, &said); err != nil {
		h.t.Fatalf("it sent %s: %v", raw, err)
	}
	_ = json.Unmarshal(raw, &whole) // an object, as it was read above
	return said, whole
}

// call asks, hears notes and serves requests until the answer is there; any but a good one fails
// the test.
func (h *Host) call(hook string, with map[string]any) message {
	h.t.Helper()
	h.calls++
	question := map[string]any{"call": h.calls, "hook": hook, "now": h.Time.UnixNano()}
	for key, value := range with {
		question[key] = value
	}
	h.send(question)
	for {
		said, whole := h.receive()
		switch {
		case said.Note != "":
			h.hear(said)
		case said.Request != 0:
			h.serve(said, whole)
		case said.Answer != h.calls:
			h.t.Fatalf("it answered call %d, asked was %d", said.Answer, h.calls)
		case said.Failed != nil:
			h.t.Fatalf("%s: it failed: %s", hook, *said.Failed)
		case said.Refused != nil:
			h.t.Fatalf("%s: it refuses: %s", hook, *said.Refused)
		default:
			return said
		}
	}
}

func (h *Host) hear(said message) {
	switch said.Note {
	case "report":
		h.Reports[said.Name] = said.Report
	case "timer":
		delete(h.Timers, said.Timer)
		if said.At != nil {
			h.Timers[said.Timer] = time.Unix(0, *said.At).UTC()
		}
	case "log":
		h.Logged = append(h.Logged, said.Text)
	}
}

func (h *Host) serve(said message, whole map[string]any) {
	h.t.Helper()
	reply := map[string]any{"reply": said.Request}
	object, found := h.Objects[sluice.ObjectRef{APIVersion: said.APIVersion, Kind: said.Kind,
		Namespace: said.Namespace, Name: said.Name}]
	switch {
	case said.Service == "objects.get" && found:
		reply["result"] = object
	case h.Serve != nil:
		result, err := h.Serve(said.Service, whole)
		if err != nil {
			reply["code"], reply["error"] = err.Code, err.Text
		} else {
			reply["result"] = result
		}
	default:
		reply["code"], reply["error"] = "NotFound", "there is no such object in the test"
	}
	h.send(reply)
}
