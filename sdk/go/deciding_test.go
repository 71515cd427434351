package sluice

import (
	"bytes"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"
)

type decides func(CheckQuery) (CheckAnswer, error)

func (d decides) Decide(query CheckQuery) (CheckAnswer, error) { return d(query) }

// out is what was sent, for many goroutines.
type out struct {
	lock sync.Mutex
	bytes.Buffer
}

func (o *out) Write(data []byte) (int, error) {
	o.lock.Lock()
	defer o.lock.Unlock()
	return o.Buffer.Write(data)
}

// waitForAll ends when nothing is decided: then all turns can be had.
func waitForAll(d *deciding) {
	for i := 0; i < atATime; i++ {
		d.turns <- struct{}{}
	}
}

func TestDecideIsAskedAgainAfterErrors(t *testing.T) {
	var sent out
	host := newHost(NewWire(&sent))
	asked, last := 0, make(chan bool)
	d := newDeciding(host, decides(func(CheckQuery) (CheckAnswer, error) {
		if asked++; asked <= 3 {
			return CheckAnswer{}, errors.New("the server is away")
		}
		close(last)
		return Ready("go"), nil
	}))
	pauses, again := make(chan time.Duration, 1), make(chan func(), 1)
	d.after = func(pause time.Duration, then func()) { pauses <- pause; again <- then }
	query := CheckQuery{Attempt: Attempt{Name: "train", Check: "c", Number: 1}}
	if err := d.begin(query); err != nil {
		t.Fatal(err)
	}
	for _, expected := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second} {
		if pause := <-pauses; pause != expected {
			t.Errorf("it pauses for %v, not %v", pause, expected)
		}
		if err := d.begin(query); err != nil { // nothing: it is asked already
			t.Fatal(err)
		}
		(<-again)()
	}
	<-last
	waitForAll(d)
	for _, words := range []string{"the server is away; it is tried again in 1s", `"Ready"`} {
		if !strings.Contains(sent.String(), words) {
			t.Errorf("%s is not in %s", words, sent.String())
		}
	}
	if asked != 4 {
		t.Errorf("asked %d times, not 4", asked)
	}
}

func TestWhoIsCancelledIsNotReported(t *testing.T) {
	var sent out
	d := newDeciding(newHost(NewWire(&sent)), decides(nil))
	begun, proceed := make(chan bool), make(chan bool)
	d.decider = decides(func(CheckQuery) (CheckAnswer, error) {
		begun <- true
		<-proceed
		return Ready("go"), nil
	})
	query := CheckQuery{Attempt: Attempt{Name: "train"}}
	if err := d.begin(query); err != nil {
		t.Fatal(err)
	}
	<-begun
	d.cancel(query.Attempt)
	close(proceed)
	waitForAll(d)
	if sent.Len() != 0 {
		t.Errorf("sent was %s", sent.String())
	}
}
