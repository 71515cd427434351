package sluice_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	sluice "sluice.dev/sdk"
	"sluice.dev/sdk/sluicetest"
)

// both is a plugin that has all methods; what they do is in its fields.
type both struct {
	host   *sluice.Host
	config struct{ Limit int64 }
	decide func(sluice.CheckQuery) (sluice.CheckAnswer, error)
}

func (b *both) Decide(query sluice.CheckQuery) (sluice.CheckAnswer, error) { return b.decide(query) }

func (b *both) ExplainCheck(query sluice.CheckQuery) ([]string, error) {
	if query.Attempt.Name == "wrong" {
		return nil, errors.New("nobody knows")
	}
	return []string{"it waits for " + query.Attempt.Name}, nil
}

func (b *both) Validate(write sluice.Write) ([]sluice.FieldError, error) {
	data, _ := write.Object["data"].(sluice.Object)
	if data["wrong"] == nil {
		return nil, nil
	}
	kind, _ := data["kind"].(string)
	return []sluice.FieldError{{Kind: kind, Path: "data.wrong", Value: data["wrong"],
		Detail: "there is none for " + write.User}}, nil
}

func (b *both) SetDefaults(write sluice.Write) (sluice.Object, error) {
	write.Object["data"] = sluice.Object{"seen": "yes"}
	return write.Object, nil
}

func (b *both) Reconcile(what sluice.ObjectRef) (time.Duration, error) {
	object, err := b.host.Objects.Find(what)
	if err != nil || object == nil {
		return 0, err
	}
	if _, err := b.host.Objects.Patch(what, "", sluice.Object{"data": "done"}); err != nil {
		return 0, err
	}
	return 90 * time.Second, b.host.State.Set("last", what.Name)
}

func (b *both) Timer(number int64) error {
	b.host.SetTimer(number+1, b.host.Now().Add(time.Hour))
	return nil
}

func whole(made *both) sluice.Plugin {
	return sluice.Plugin{Name: "whole", Version: "1.0.0", CheckControllers: []string{"example.com/w"},
		WatchedKinds: []string{"v1 ConfigMap"}, ValidatedKinds: []string{"ConfigMap"},
		New: func(host *sluice.Host, config json.RawMessage) (any, error) {
			made.host = host
			return made, json.Unmarshal(config, &made.config)
		}}
}

func TestItProvidesWhatItHasMethodsFor(t *testing.T) {
	host := sluicetest.New(t, whole(&both{}), `{"limit": 3}`)
	for _, point := range []string{"check-controller/1", "controller/1", "validator/1", "timers/1"} {
		if host.Points[point] == nil {
			t.Errorf("%s is missing in %v", point, host.Points)
		}
	}
	if host.Points["post-admit/1"] != nil || host.Points["schema/1"] != nil {
		t.Errorf("it does not have all of %v", host.Points)
	}
}

type listener struct{}

func (listener) Notify(sluice.Notification) error { return nil }

func TestItNamesTheEventsThatItWants(t *testing.T) {
	what := sluice.Plugin{Name: "listener", Version: "1.0.0", ToldEvents: []string{"Admitted claimed"},
		New: func(*sluice.Host, json.RawMessage) (any, error) { return listener{}, nil }}
	point, _ := sluicetest.New(t, what, "").Points["post-admit/1"].(map[string]any)
	if events, _ := point["events"].([]any); len(events) != 1 || events[0] != "Admitted claimed" {
		t.Errorf("it names %v", point)
	}
}

func TestWhatIsDecidedIsReported(t *testing.T) {
	plugin := &both{}
	host := sluicetest.New(t, whole(plugin), `{"limit": 3}`)
	plugin.decide = func(query sluice.CheckQuery) (sluice.CheckAnswer, error) {
		if query.Attempt.UID != "uid-train" || query.Attempt.Number != 1 {
			t.Errorf("asked about %+v", query.Attempt)
		}
		return sluice.Retry("the limit is 3", plugin.config.Limit), nil
	}
	host.Begin("train")
	if got := host.Reports["train"]; got.State != "Retry" || got.AfterSeconds != 3 {
		t.Errorf("reported was %+v", got)
	}
}

func TestItSaysMoreWhereItCan(t *testing.T) {
	host := sluicetest.New(t, whole(&both{}), "")
	if point, _ := host.Points["check-controller/1"].(map[string]any); point["explains"] != true {
		t.Errorf("it does not say that it explains: %v", host.Points)
	}
	if lines := host.Explain("train"); len(lines) != 1 || lines[0] != "it waits for train" {
		t.Errorf("it says %q", lines)
	}
}

func TestWritesAreJudged(t *testing.T) {
	host := sluicetest.New(t, whole(&both{}), "")
	write := sluice.Write{Operation: "Create", APIVersion: "v1", Kind: "ConfigMap",
		Object: sluice.Object{"data": sluice.Object{"wrong": 3}}, User: "ann"}
	errs := host.Validate(write)
	if len(errs) != 1 || errs[0].Kind != "Invalid" || errs[0].Path != "data.wrong" || errs[0].Detail != "there is none for ann" {
		t.Errorf("refused was %v", errs)
	}
	write.Object = sluice.Object{}
	if errs := host.Validate(write); len(errs) != 0 {
		t.Errorf("refused was %v", errs)
	}
	if data, _ := host.SetDefaults(write)["data"].(sluice.Object); data["seen"] != "yes" {
		t.Errorf("the object became %v", data)
	}
}

func TestObjectsAndStateWithinACall(t *testing.T) {
	plugin := &both{}
	host := sluicetest.New(t, whole(plugin), "")
	what := sluice.ObjectRef{APIVersion: "v1", Kind: "ConfigMap", Namespace: "a", Name: "m"}
	if again := host.Reconcile(what); again != 0 {
		t.Errorf("of none: again after %v", again)
	}
	host.Objects[what] = sluice.Object{"kind": "ConfigMap"}
	var served []string
	host.Serve = func(service string, _ map[string]any) (any, *sluice.ObjectError) {
		served = append(served, service)
		return sluice.Object{}, nil
	}
	if again := host.Reconcile(what); again != 90*time.Second {
		t.Errorf("again after %v", again)
	}
	if got := strings.Join(served, " "); got != "objects.patch state.set" {
		t.Errorf("asked for %s", got)
	}
	var said *sluice.ObjectError
	if _, err := plugin.host.Objects.Get(what); !errors.As(err, &said) || said.Code != "NotNow" {
		t.Errorf("outside of a call: %v", err)
	}
}

func TestTimers(t *testing.T) {
	host := sluicetest.New(t, whole(&both{}), "")
	host.Time = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	host.Fire(7)
	if at := host.Timers[8]; !at.Equal(host.Time.Add(time.Hour)) {
		t.Errorf("timer 8 is at %v", at)
	}
}

// duplex is a stream of two buffers.
type duplex struct {
	io.Reader
	io.Writer
}

// lastAnswer is what a plugin says last to these messages.
func lastAnswer(t *testing.T, plugin sluice.Plugin, messages ...string) string {
	t.Helper()
	var to, from bytes.Buffer
	in, out := sluice.NewWire(&to), sluice.NewWire(&from)
	for _, message := range append([]string{`{"hello":{"protocol":1}}`}, messages...) {
		if err := in.Send(json.RawMessage(message)); err != nil {
			t.Fatal(err)
		}
	}
	if err := sluice.Serve(plugin, duplex{&to, &from}); err != nil {
		t.Fatal(err)
	}
	var last json.RawMessage
	for out.Receive(&last) == nil {
	}
	return strings.TrimSpace(string(last))
}

const create = `{"call":1,"hook":"plugin.create","config":{},"simulated":true}`

func TestWhatGoesWrongIsSaid(t *testing.T) {
	panics := &both{decide: func(sluice.CheckQuery) (sluice.CheckAnswer, error) {
		panic("no such thing")
	}}
	empty := sluice.Plugin{Name: "empty", CheckControllers: []string{"example.com/e"},
		New: func(*sluice.Host, json.RawMessage) (any, error) { return struct{}{}, nil }}
	for _, each := range []struct {
		plugin   sluice.Plugin
		messages []string
		last     string
	}{
		{whole(panics), []string{create, `{"call":2,"hook":"check-controller.begin","workload":{}}`},
			`{"answer":2,"failed":"panic: no such thing"}`},
		{whole(panics), []string{create, `{"call":2,"hook":"check-controller.dance"}`},
			`{"answer":2,"failed":"this package does not know the hook \"check-controller.dance\""}`},
		{whole(panics), []string{create, `{"call":2,"hook":"validator.validate",` +
			`"object":{"data":{"wrong":1,"kind":"Bad"}}}`},
			`{"answer":2,"failed":"Validate gives an error of the kind \"Bad\"; it must be one of ` +
				`Invalid, Required, Forbidden, NotSupported, Duplicate"}`},
		{whole(panics), []string{`{"call":1,"hook":"plugin.activate"}`},
			`{"answer":1,"failed":"it was not created"}`},
		{empty, []string{create}, `{"answer":1,"refused":"empty names CheckControllers, but ` +
			`struct {} has no BeginCheck and no Decide"}`},
	} {
		if last := lastAnswer(t, each.plugin, each.messages...); last != each.last {
			t.Errorf("it says %s, not %s", last, each.last)
		}
	}
}

func TestFramesAreChecked(t *testing.T) {
	for _, each := range []struct{ bytes, wrong string }{
		{"\x00\x00\x00\x00", "a frame of 0 bytes; 1 to 16777216 are allowed"},
		{"\x01\x00\x00\x01", "a frame of 16777217 bytes; 1 to 16777216 are allowed"},
		{"\x05\x00\x00\x00{}", io.ErrUnexpectedEOF.Error()},
		{"", io.EOF.Error()},
	} {
		var out any
		err := sluice.NewWire(bytes.NewBufferString(each.bytes)).Receive(&out)
		if err == nil || err.Error() != each.wrong {
			t.Errorf("%q: %v, not %s", each.bytes, err, each.wrong)
		}
	}
}
