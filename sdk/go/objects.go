package sluice

import (
	"bytes"
	"encoding/json"
	"errors"
)

// Objects are the host's objects, of all kinds. What a call writes takes effect together when it
// ends well, and not at all when it ends with an error. docs/plugins/services.md says in which
// calls; elsewhere the code of the error is NotNow.
type Objects struct{ host *Host }

// Get reads one.
func (o *Objects) Get(what ObjectRef) (Object, error) {
	var out Object
	return out, o.host.ask("objects.get", named(what), &out)
}

// Find is Get, but nil where there is no such object.
func (o *Objects) Find(what ObjectRef) (Object, error) {
	object, err := o.Get(what)
	if isNotFound(err) {
		return nil, nil
	}
	return object, err
}

// List gives those of a kind. No namespace: all; the selector: `a=b,c in (d,e)`, or nothing.
func (o *Objects) List(what ObjectRef, selector string) ([]Object, error) {
	request := named(what)
	delete(request, "name")
	request["selector"] = selector
	var out []Object
	return out, o.host.ask("objects.list", request, &out)
}

// Create makes one, and gives it as it is then.
func (o *Objects) Create(object Object) (Object, error) {
	var out Object
	return out, o.host.ask("objects.create", Object{"object": object}, &out)
}

// Update writes all but its status.
func (o *Objects) Update(object Object) (Object, error) { return o.update(object, "") }

// UpdateStatus writes its status.
func (o *Objects) UpdateStatus(object Object) (Object, error) { return o.update(object, "status") }

func (o *Objects) update(object Object, subresource string) (Object, error) {
	var out Object
	return out, o.host.ask("objects.update", Object{"object": object, "subresource": subresource},
		&out)
}

// Patch merges (a JSON merge patch); the subresource is "" or "status".
func (o *Objects) Patch(what ObjectRef, subresource string, merge Object) (Object, error) {
	request := named(what)
	request["subresource"], request["object"] = subresource, merge
	var out Object
	return out, o.host.ask("objects.patch", request, &out)
}

// Remove deletes the one of this uid; "": whichever there is.
func (o *Objects) Remove(what ObjectRef, uid string) error {
	request := named(what)
	request["uid"] = uid
	return o.host.ask("objects.remove", request, nil)
}

// State is keys and texts of the plugin's own, kept by the host over restarts; where Objects may be
// used, and in the same transaction.
type State struct{ host *Host }

// Get reads one; false: there is none.
func (s *State) Get(key string) (string, bool, error) {
	var out string
	err := s.host.ask("state.get", Object{"key": key}, &out)
	if isNotFound(err) {
		return "", false, nil
	}
	return out, err == nil, err
}

// Set writes one.
func (s *State) Set(key, value string) error {
	return s.host.ask("state.set", Object{"key": key, "value": value}, nil)
}

// Remove takes one away.
func (s *State) Remove(key string) error {
	return s.host.ask("state.remove", Object{"key": key}, nil)
}

// Keys are those that begin so.
func (s *State) Keys(prefix string) ([]string, error) {
	var out []string
	return out, s.host.ask("state.keys", Object{"prefix": prefix}, &out)
}

func named(what ObjectRef) Object {
	return Object{"apiVersion": what.APIVersion, "kind": what.Kind, "namespace": what.Namespace,
		"name": what.Name}
}

func isNotFound(err error) bool {
	var said *ObjectError
	return errors.As(err, &said) && said.Code == "NotFound"
}

func decode(text []byte, out any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return decoder.Decode(out)
}
