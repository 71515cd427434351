package sluice

import (
	"fmt"
	"sync"
	"time"
)

const (
	firstPause   = time.Second // before Decide is asked again after an error
	longestPause = 5 * time.Minute
	atATime      = 8 // of Decide
)

// deciding runs Decide on goroutines, where it may wait; in a simulation within the call.
type deciding struct {
	host    *Host
	decider Decider
	turns   chan struct{}
	after   func(time.Duration, func()) // time.AfterFunc, or a test's

	lock  sync.Mutex
	asked map[Attempt]time.Duration // the pause after the next error
}

func newDeciding(host *Host, decider Decider) *deciding {
	return &deciding{host: host, decider: decider, turns: make(chan struct{}, atATime),
		asked: map[Attempt]time.Duration{},
		after: func(pause time.Duration, then func()) { time.AfterFunc(pause, then) }}
}

func (d *deciding) begin(query CheckQuery) error {
	if d.host.Simulated() {
		answer, err := d.decider.Decide(query)
		if err == nil {
			d.host.Report(query.Attempt, answer)
		}
		return err
	}
	d.lock.Lock()
	defer d.lock.Unlock()
	if _, again := d.asked[query.Attempt]; again { // the host began it again
		return nil
	}
	d.asked[query.Attempt] = firstPause
	go d.run(query)
	return nil
}

func (d *deciding) cancel(attempt Attempt) {
	d.lock.Lock()
	defer d.lock.Unlock()
	delete(d.asked, attempt)
}

func (d *deciding) isWanted(attempt Attempt) bool {
	d.lock.Lock()
	defer d.lock.Unlock()
	_, wanted := d.asked[attempt]
	return wanted
}

func (d *deciding) run(query CheckQuery) {
	d.turns <- struct{}{}
	defer func() { <-d.turns }()
	if !d.isWanted(query.Attempt) {
		return
	}
	answer, err := d.decide(query)
	d.lock.Lock()
	defer d.lock.Unlock()
	pause, wanted := d.asked[query.Attempt]
	if !wanted {
		return
	}
	if err == nil {
		delete(d.asked, query.Attempt)
		d.host.Report(query.Attempt, answer)
		return
	}
	d.asked[query.Attempt] = min(2*pause, longestPause)
	d.host.Report(query.Attempt, Pending(fmt.Sprintf("%v; it is tried again in %v", err, pause)))
	d.after(pause, func() { go d.run(query) })
}

// decide is Decide, whose panic is an error.
func (d *deciding) decide(query CheckQuery) (answer CheckAnswer, err error) {
	defer func() {
		if what := recover(); what != nil {
			err = fmt.Errorf("panic: %v", what)
		}
	}()
	return d.decider.Decide(query)
}
