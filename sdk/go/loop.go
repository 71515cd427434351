package sluice

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime/debug"
	"strconv"
	"time"
)

// call is a question of the host, with the members of all hooks.
type call struct {
	Hello *struct{ Protocol int }

	Call                        int64
	Hook                        string
	Now                         int64
	Config                      json.RawMessage
	Simulated                   bool
	Check                       string
	CheckObject                 Object
	Attempt, RetryCount         int64
	Namespace, Name, UID, Why   string
	APIVersion, Kind, Operation string
	User                        string
	Object, Old, Workload       Object
	Event, Reason               string
	Sequence, Timer             int64
	Others                      []string
}

// loop answers the calls of one host, one after the other.
type loop struct {
	what     Plugin
	wire     *Wire
	host     *Host
	plugin   any
	deciding *deciding
}

// Main answers the host that started this process, until it hangs up. It does not return.
func Main(what Plugin) {
	number, err := strconv.Atoi(os.Getenv("SLUICE_PLUGIN_FD"))
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s is a plugin of Sluice: a host starts it, with `command:` in "+
			"plugins.load of its configuration\n", what.Name)
		os.Exit(1)
	}
	file := os.NewFile(uintptr(number), "the host")
	connection, err := net.FileConn(file) // which goroutines can read and write at a time
	if err == nil {
		err = Serve(what, connection)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0) // goroutines that still decide have nobody to tell
}

// Serve answers the host at the other end of a stream, until that hangs up.
func Serve(what Plugin, stream io.ReadWriter) error {
	wire := NewWire(stream)
	l := &loop{what: what, wire: wire, host: newHost(wire)}
	err := l.run()
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

func (l *loop) run() error {
	var hello call
	if err := l.wire.Receive(&hello); err != nil {
		return err
	}
	if hello.Hello == nil {
		return errors.New("the host did not say hello first")
	}
	if hello.Hello.Protocol != Protocol {
		fmt.Fprintf(os.Stderr, "the host speaks protocol %d, this package speaks %d\n",
			hello.Hello.Protocol, Protocol)
	}
	ours := Object{"protocol": Protocol, "name": l.what.Name, "version": l.what.Version,
		"description": l.what.Description}
	if l.what.ConfigSchema != nil {
		ours["configSchema"] = l.what.ConfigSchema
	}
	if err := l.wire.Send(Object{"hello": ours}); err != nil {
		return err
	}
	for {
		var asked call
		if err := l.wire.Receive(&asked); err != nil {
			return err
		}
		answer := l.answer(&asked)
		answer["answer"] = asked.Call
		if err := l.wire.Send(answer); err != nil {
			return err
		}
	}
}

// answer carries a call out; errors and panics become answers.
func (l *loop) answer(asked *call) (out Object) {
	defer func() {
		l.host.setInCall(false)
		if what := recover(); what != nil {
			fmt.Fprintf(os.Stderr, "panic in %s: %v\n%s", asked.Hook, what, debug.Stack())
			out = Object{"failed": fmt.Sprintf("panic: %v", what)}
		}
	}()
	l.host.now.Store(asked.Now)
	l.host.setInCall(true)
	out, err := l.carryOut(asked)
	var refused Refused
	switch {
	case err == nil && out == nil:
		return Object{}
	case err == nil:
		return out
	case errors.As(err, &refused):
		return Object{"refused": refused.Error()}
	case errors.As(err, &TellMeAgain{}):
		return Object{"retry": true}
	}
	return Object{"failed": err.Error()}
}

func (l *loop) carryOut(asked *call) (Object, error) {
	if asked.Hook == "plugin.create" {
		return l.create(asked)
	}
	if l.plugin == nil {
		return nil, errors.New("it was not created")
	}
	switch asked.Hook {
	case "plugin.activate":
		if plugin, ok := l.plugin.(Activator); ok {
			return nil, plugin.Activate()
		}
		return nil, nil
	case "plugin.deactivate":
		if plugin, ok := l.plugin.(Deactivator); ok {
			return nil, plugin.Deactivate()
		}
		return nil, nil
	case "check-controller.check_changed":
		return l.checkChanged(asked)
	case "check-controller.begin":
		return nil, l.begin(asked)
	case "check-controller.cancel":
		return nil, l.cancel(asked)
	case "check-controller.explain":
		lines, err := l.plugin.(CheckExplainer).ExplainCheck(queryOf(asked))
		if lines == nil {
			lines = []string{}
		}
		return Object{"lines": lines}, err
	case "controller.reconcile":
		return l.reconcile(asked)
	case "validator.validate":
		found, err := l.plugin.(Validator).Validate(writeOf(asked))
		if err != nil {
			return nil, err
		}
		return errorsOf(found)
	case "validator.set_defaults":
		object, err := l.plugin.(Defaulter).SetDefaults(writeOf(asked))
		if object == nil {
			return nil, err
		}
		return Object{"object": object}, err
	case "post-admit.notify":
		return nil, l.plugin.(Notified).Notify(Notification{asked.Event, asked.Sequence,
			asked.Workload, asked.Reason, asked.Others})
	case "timers.fired":
		return nil, l.plugin.(Timed).Timer(asked.Timer)
	}
	return nil, fmt.Errorf("this package does not know the hook %q", asked.Hook)
}

// errorsOf is what Validate found, as the host takes it: for another kind it would end the process.
func errorsOf(found []FieldError) (Object, error) {
	out := make([]FieldError, 0, len(found))
	for _, each := range found {
		switch each.Kind {
		case "":
			each.Kind = "Invalid"
		case "Invalid", "Required", "Forbidden", "NotSupported", "Duplicate":
		default:
			return nil, fmt.Errorf("Validate gives an error of the kind %q; it must be one of "+
				"Invalid, Required, Forbidden, NotSupported, Duplicate", each.Kind)
		}
		out = append(out, each)
	}
	return Object{"errors": out}, nil
}

func (l *loop) create(asked *call) (Object, error) {
	l.host.simulated.Store(asked.Simulated)
	plugin, err := l.what.New(l.host, asked.Config)
	if err != nil {
		return nil, err
	}
	l.plugin = plugin
	if decider, ok := plugin.(Decider); ok {
		l.deciding = newDeciding(l.host, decider)
	}
	points, err := l.points()
	return Object{"points": points}, err
}

// points says what the plugin provides; what it names and cannot answer is refused.
func (l *loop) points() (Object, error) {
	points := Object{}
	refuse := func(field, methods string) (Object, error) {
		return nil, Refusedf("%s names %s, but %T has no %s", l.what.Name, field, l.plugin, methods)
	}
	if len(l.what.CheckControllers) > 0 {
		if _, begins := l.plugin.(BeginChecker); !begins && l.deciding == nil {
			return refuse("CheckControllers", "BeginCheck and no Decide")
		}
		_, explains := l.plugin.(CheckExplainer)
		points["check-controller/1"] = Object{"controllers": l.what.CheckControllers,
			"explains": explains}
	}
	if len(l.what.WatchedKinds) > 0 {
		if _, ok := l.plugin.(Reconciler); !ok {
			return refuse("WatchedKinds", "Reconcile")
		}
		points["controller/1"] = Object{"kinds": l.what.WatchedKinds}
	}
	if len(l.what.ValidatedKinds) > 0 {
		if _, ok := l.plugin.(Validator); !ok {
			return refuse("ValidatedKinds", "Validate")
		}
		_, defaults := l.plugin.(Defaulter)
		points["validator/1"] = Object{"kinds": l.what.ValidatedKinds, "setsDefaults": defaults}
	}
	if _, ok := l.plugin.(Timed); ok {
		points["timers/1"] = Object{}
	}
	if _, ok := l.plugin.(Notified); ok {
		point := Object{}
		if len(l.what.ToldEvents) > 0 {
			point["events"] = l.what.ToldEvents
		}
		points["post-admit/1"] = point
	} else if len(l.what.ToldEvents) > 0 {
		return refuse("ToldEvents", "Notify")
	}
	if l.what.Schema != nil {
		points["schema/1"] = Object{"contribution": l.what.Schema}
	}
	return points, nil
}

func (l *loop) checkChanged(asked *call) (Object, error) {
	plugin, ok := l.plugin.(CheckChanger)
	if !ok {
		return nil, nil
	}
	activity, err := plugin.CheckChanged(asked.Check, asked.CheckObject)
	return Object{"active": activity.IsActive, "reason": activity.Reason,
		"message": activity.Message}, err
}

func queryOf(asked *call) CheckQuery {
	metadata, _ := asked.Workload["metadata"].(Object)
	text := func(key string) string { value, _ := metadata[key].(string); return value }
	return CheckQuery{Attempt{text("namespace"), text("name"), text("uid"), asked.Check,
		asked.Attempt}, asked.RetryCount, asked.Workload, asked.CheckObject}
}

func (l *loop) begin(asked *call) error {
	query := queryOf(asked)
	if plugin, ok := l.plugin.(BeginChecker); ok {
		answer, err := plugin.BeginCheck(query)
		if err != nil {
			return err
		}
		if answer != nil {
			l.host.Report(query.Attempt, *answer)
			return nil
		}
	}
	if l.deciding != nil {
		return l.deciding.begin(query)
	}
	return nil
}

func (l *loop) cancel(asked *call) error {
	cancel := CheckCancel{Attempt{asked.Namespace, asked.Name, asked.UID, asked.Check,
		asked.Attempt}, asked.Why}
	if l.deciding != nil {
		l.deciding.cancel(cancel.Attempt)
	}
	if plugin, ok := l.plugin.(CheckCanceler); ok {
		return plugin.CancelCheck(cancel)
	}
	return nil
}

func (l *loop) reconcile(asked *call) (Object, error) {
	again, err := l.plugin.(Reconciler).Reconcile(ObjectRef{asked.APIVersion, asked.Kind,
		asked.Namespace, asked.Name})
	if again < 0 {
		return Object{"againAfterMs": -1}, err
	}
	if again > 0 && again < time.Millisecond {
		again = time.Millisecond
	}
	return Object{"againAfterMs": again.Milliseconds()}, err
}

func writeOf(asked *call) Write {
	return Write{asked.Operation, asked.APIVersion, asked.Kind, asked.Object, asked.Old, asked.User}
}
