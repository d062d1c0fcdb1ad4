package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand"
)

// Element is one of the stream: a record, a watermark, a status or a latency marker.
type Element struct {
	Type      string          `json:"type"`
	Value     json.RawMessage `json:"value,omitempty"`
	Key       json.RawMessage `json:"key,omitempty"`
	Timestamp *int64          `json:"timestamp,omitempty"`
	Idle      *bool           `json:"idle,omitempty"`
	MarkedAt  *int64          `json:"marked_at,omitempty"`
	Source    string          `json:"source,omitempty"`
}

// Results are what a call gives: a list, or a Stream that is read once.
type Results []json.RawMessage

// Stream gives results one by one; its error breaks all of them.
type Stream func(yield func(json.RawMessage)) error

// Source is where elements come from. Next returns io.EOF at the end.
type Source interface {
	Next(ctx context.Context) (*Element, error)
	Close() error
}

// Function is what is called for each record. Timeout and Failure may be nil; if they give nil, they have
// no results.
type Function struct {
	Open, Close func() error
	Call        func(ctx context.Context, record *Element) (any, error)
	Timeout     func(record *Element) (any, error)
	Failure     func(record *Element, err *Error) (any, error)
}

// Config says how an operator works; times are in ms, and `never` is no limit.
type Config struct {
	Mode              string
	Capacity, MaxHeld int
	Timeout           float64
	Retry             *Retry
}

// Retry says how calls are repeated. A predicate that returns a RetryAfter asks for that back-off. One
// that would not end before the deadline of its record does not begin: the outcome of the last call stands.
type Retry struct {
	MaxAttempts                      int
	Initial, Multiplier, Cap, Jitter float64
	Limit                            float64
	OnError                          func(error) (bool, error)
	OnResult                         func(Results) (bool, error)
}

// RetryAfter is the error of a call that says when to call again, in ms.
type RetryAfter struct{ Wait float64 }

func (e *RetryAfter) Error() string { return fmt.Sprintf("call again after %v ms", e.Wait) }

// Error is why an operator fails: CallFailed, CallTimedOut, InvalidResult or TooManyAbandonedCalls.
type Error struct {
	Kind     string
	Record   *Element
	Attempts int
	Cause    error
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %v", e.Kind, e.Cause) }

func (e *Error) Unwrap() error { return e.Cause }

var (
	errLimit     = errors.New("the attempt took too long")
	errNoElement = errors.New("the source gave what is no element")
	errTwoReads  = errors.New("somebody else waits for an element")
)

// Statistics are figures of this moment, and totals.
type Statistics struct {
	InFlight        int     `json:"in_flight"`
	Waiting         int     `json:"waiting"`
	Held            int     `json:"held"`
	Calls           int     `json:"calls"`
	Retries         int     `json:"retries"`
	Timeouts        int     `json:"timeouts"`
	FailuresHandled int     `json:"failures_handled"`
	Abandoned       int     `json:"abandoned"`
	MaxInFlight     int     `json:"max_in_flight"`
	MaxHeld         int     `json:"max_held"`
	Oldest          float64 `json:"oldest"`
}

// entry is an element in flight. A fence is decided from the start, and its own result.
type entry struct {
	*Element
	fence, decided bool
	out            []*Element
	key            string
	began          float64
	attempts       int
	last           error // of the last attempt that has failed
}

// call is one attempt at a record.
type call struct {
	cancel           context.CancelFunc
	ended, abandoned bool
	at               float64
	result           any
	err              error
}

// Operator calls a function for each record of a stream and hands out the results.
type Operator struct {
	loop    *Loop
	config  Config
	fn      Function
	source  Source
	ctx     context.Context // of all that runs: it is over when the operator has failed or was left
	stop    context.CancelFunc
	queue   []*entry   // what is in flight, in input order
	current *entry     // of which some results were taken, and not all
	markers []*Element // they overtake the queue
	ended   error      // how the source ended; it comes out behind the queue
	failed  error
	told    bool // of the failure
	reading bool // the consumer waits
	running int  // tasks
	strays  int  // abandoned calls that run
	stats   Statistics
}

// Open opens the function and begins to read the source.
func Open(loop *Loop, config Config, fn Function, source Source) (*Operator, error) {
	if err := fn.Open(); err != nil {
		source.Close()
		return nil, err
	}
	o := &Operator{loop: loop, config: config, fn: fn, source: source}
	o.ctx, o.stop = context.WithCancel(context.Background())
	o.spawn(o.read)
	return o, nil
}

// Next waits for the next element. It returns io.EOF at the end, and again whatever ended the stream.
func (o *Operator) Next(ctx context.Context) (*Element, error) {
	if o.reading {
		return nil, errTwoReads
	}
	o.reading = true
	defer func() { o.reading = false }()
	o.loop.Until(never, func() bool {
		return ctx.Err() != nil || o.over() || len(o.markers) > 0 || o.first() != nil || o.drained()
	})
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case o.failed != nil:
		o.told = true
		return nil, o.failed
	case o.over():
		return nil, io.EOF
	case o.current == nil && len(o.markers) > 0:
		marker := o.markers[0]
		o.markers = o.markers[1:]
		return marker, nil
	case o.first() != nil:
		return o.take(o.first()), nil
	case o.ended != io.EOF:
		o.fail(o.ended)
		o.told = true
	}
	return nil, o.ended
}

// Close cancels what runs, waits for its end, and closes the source and the function.
func (o *Operator) Close() error {
	o.finish()
	if !o.told {
		o.failed = nil // nobody has heard of it, and the consumer has left
	}
	o.loop.Until(never, func() bool { return o.running == 0 })
	err := o.source.Close()
	if late := o.fn.Close(); err == nil {
		err = late
	}
	return err
}

// Statistics returns the figures of this moment.
func (o *Operator) Statistics() Statistics {
	s := o.stats
	first := o.loop.Now()
	for _, e := range o.queue {
		if !e.fence {
			s.InFlight++
			first = math.Min(first, e.began)
			if e.decided {
				s.Held++
			}
		}
	}
	s.Oldest = o.loop.Now() - first
	return s
}

// read takes elements from the source while there is room.
func (o *Operator) read() {
	for {
		e, err := o.source.Next(o.ctx)
		if err == nil && e.Type == "" {
			err = errNoElement
		}
		if err != nil {
			o.ended = err
			return
		}
		if e.Type == "latency" {
			o.until(never, func() bool { return len(o.markers) < o.config.Capacity })
		} else {
			o.stats.Waiting = 1
			o.until(never, o.room)
			o.stats.Waiting = 0
		}
		if o.over() {
			return
		}
		o.admit(e)
	}
}

func (o *Operator) admit(e *Element) {
	switch e.Type {
	case "latency":
		o.markers = append(o.markers, e)
	case "record":
		r := &entry{Element: e, key: canonical(e.Key), began: never}
		o.queue = append(o.queue, r)
		o.mark()
		o.spawn(func() { o.run(r) })
	default:
		o.queue = append(o.queue, &entry{Element: e, fence: true, decided: true, out: []*Element{e}})
	}
}

// room says whether one more element may be in flight: finished ones take no room up to MaxHeld.
func (o *Operator) room() bool {
	undecided, finished := 0, -o.config.MaxHeld
	for _, e := range o.queue {
		if e.decided {
			finished++
		} else {
			undecided++
		}
	}
	if finished > 0 {
		undecided += finished
	}
	return undecided < o.config.Capacity
}

// run makes the calls of a record, until it is decided.
func (o *Operator) run(r *entry) {
	o.until(never, func() bool { return !o.busy(r) })
	r.began = o.loop.Now()
	deadline := r.began + o.config.Timeout
	for !o.over() {
		limit := deadline
		if o.config.Retry != nil {
			limit = math.Min(limit, o.loop.Now()+o.config.Retry.Limit)
		}
		c := o.start(r)
		o.until(limit, func() bool { return c.ended })
		if o.over() {
			return
		}
		over := limit
		if c.ended && c.at <= limit {
			over = c.at
		} else if o.abandon(c); limit == deadline {
			o.late(r)
			return
		} else {
			c.result, c.err = nil, errLimit
		}
		pause, again := o.outcome(r, c, deadline-over)
		if !again {
			return
		}
		o.until(over+pause, func() bool { return false })
		if o.loop.Now() >= deadline && !o.over() {
			o.late(r)
			return
		}
		o.until(never, func() bool { return c.ended || c.abandoned })
	}
}

// start starts a call in a task of its own.
func (o *Operator) start(r *entry) *call {
	ctx, cancel := context.WithCancel(o.ctx)
	c := &call{cancel: cancel}
	o.stats.Calls++
	if r.attempts++; r.attempts > 1 {
		o.stats.Retries++
	}
	o.spawn(func() {
		result, err := o.fn.Call(ctx, r.Element)
		cancel()
		if c.at = o.loop.Now(); c.err == nil {
			c.result, c.err = result, err
		}
		c.ended = true
	})
	return c
}

// abandon cancels a call. If it runs on when all others have had their turn, it counts.
func (o *Operator) abandon(c *call) {
	c.cancel()
	ended := func() bool { return c.ended }
	o.spawn(func() {
		if o.loop.Until(o.loop.Now(), ended) {
			return
		}
		c.abandoned = true
		o.stats.Abandoned++
		if o.strays++; o.strays > o.config.Capacity {
			o.fail(&Error{Kind: "TooManyAbandonedCalls"})
		}
		o.loop.Until(never, ended)
		o.strays--
	})
}

// outcome decides a record by what its call gave, or says after which back-off to call again: it has to
// be shorter than what is left until the deadline.
func (o *Operator) outcome(r *entry, c *call, left float64) (pause float64, again bool) {
	out, err := c.collect()
	if err != nil {
		r.last = err
	}
	if err != errInvalid {
		var broke error
		if pause, again, broke = o.again(r.attempts, out, err); again && pause < left {
			return pause, true
		}
		if broke != nil {
			err = broke
		}
	}
	o.settle(r, out, err)
	return 0, false
}

// again says whether an outcome is a reason for another attempt, and after which back-off.
func (o *Operator) again(attempts int, out Results, err error) (pause float64, again bool, broke error) {
	retry := o.config.Retry
	if retry == nil || attempts >= retry.MaxAttempts {
		return 0, false, nil
	}
	after, told := err.(*RetryAfter)
	if err == nil {
		again, broke = retry.OnResult(out)
	} else if !told {
		again, broke = retry.OnError(err)
		after, told = broke.(*RetryAfter)
	}
	if told {
		return after.Wait, true, nil
	}
	pause = math.Min(retry.Cap, retry.Initial*math.Pow(retry.Multiplier, float64(attempts-1)))
	return pause * (1 - retry.Jitter*rand.Float64()), again, broke
}

// late decides a record whose deadline has passed.
func (o *Operator) late(r *entry) {
	o.stats.Timeouts++
	timedOut := &Error{"CallTimedOut", r.Element, r.attempts, r.last}
	if o.fn.Timeout == nil {
		o.rescue(r, timedOut)
		return
	}
	given, err := o.fn.Timeout(r.Element)
	if err != nil {
		timedOut.Cause = err
	}
	if given == nil || err != nil {
		o.rescue(r, timedOut)
		return
	}
	out, err := collect(given)
	o.settle(r, out, err)
}

// settle decides a record by results or by the error of its call.
func (o *Operator) settle(r *entry, out Results, err error) {
	if err != nil {
		o.rescue(r, o.failure(r, err))
		return
	}
	o.decide(r, out)
}

// failure is the error of a record.
func (o *Operator) failure(r *entry, err error) *Error {
	if err == errInvalid {
		return &Error{"InvalidResult", r.Element, r.attempts, nil}
	}
	return &Error{"CallFailed", r.Element, r.attempts, err}
}

// rescue asks the failure handler for results; if it has none, the operator fails.
func (o *Operator) rescue(r *entry, failed *Error) {
	if o.fn.Failure == nil {
		o.fail(failed)
		return
	}
	given, err := o.fn.Failure(r.Element, failed)
	if err != nil {
		o.fail(&Error{failed.Kind, r.Element, r.attempts, err})
	} else if given == nil {
		o.fail(failed)
	} else if out, err := collect(given); err != nil {
		o.fail(o.failure(r, err))
	} else {
		o.stats.FailuresHandled++
		o.decide(r, out)
	}
}

func (o *Operator) decide(r *entry, out Results) {
	r.decided = true
	for _, value := range out {
		r.out = append(r.out, &Element{Type: "record", Value: value, Key: r.Key, Timestamp: r.Timestamp})
	}
	o.sweep()
	o.mark()
}

// first is what comes out next: in ordered mode the head of the queue, else any that no fence and, in
// key-ordered mode, no record of its key stands before.
func (o *Operator) first() *entry {
	if o.current != nil {
		return o.current
	}
	for i, e := range o.queue {
		if i > 0 && (e.fence || o.config.Mode == "ordered") {
			return nil
		}
		if len(e.out) > 0 && !o.follows(e, func(*entry) bool { return true }) {
			return e
		}
	}
	return nil
}

// take takes one result of an entry, and the entry out of the queue with its last.
func (o *Operator) take(e *entry) *Element {
	result := e.out[0]
	o.current, e.out = e, e.out[1:]
	if len(e.out) == 0 {
		o.current = nil
		o.sweep()
	}
	return result
}

// sweep removes what is decided and has no results left; in ordered mode from the head alone.
func (o *Operator) sweep() {
	var kept []*entry
	for _, e := range o.queue {
		gone := e.decided && len(e.out) == 0
		if !gone || o.config.Mode == "ordered" && len(kept) > 0 {
			kept = append(kept, e)
		}
	}
	o.queue = kept
}

// busy says whether the key of a record is: one before it is undecided.
func (o *Operator) busy(r *entry) bool {
	return o.follows(r, func(e *entry) bool { return !e.decided })
}

// follows says whether, in key-ordered mode, a record with the same key that matches stands before.
func (o *Operator) follows(r *entry, matches func(*entry) bool) bool {
	for _, e := range o.queue {
		if e == r || o.config.Mode != "key-ordered" {
			return false
		}
		if !e.fence && e.key == r.key && matches(e) {
			return true
		}
	}
	return false
}

// mark keeps the highest figures.
func (o *Operator) mark() {
	s := o.Statistics()
	if s.InFlight > s.MaxInFlight {
		o.stats.MaxInFlight = s.InFlight
	}
	if s.Held > s.MaxHeld {
		o.stats.MaxHeld = s.Held
	}
}

// fail ends the operator with its first error.
func (o *Operator) fail(err error) {
	if !o.over() {
		o.failed = err
		o.finish()
	}
}

// finish cancels all that runs; nothing comes out any more.
func (o *Operator) finish() {
	o.stop()
	o.queue, o.current, o.markers, o.stats.Waiting = nil, nil, nil, 0
}

func (o *Operator) over() bool { return o.ctx.Err() != nil }

func (o *Operator) drained() bool { return o.ended != nil && len(o.queue) == 0 }

// until waits, and no longer than the operator lives.
func (o *Operator) until(due float64, ready func() bool) {
	o.loop.Until(due, func() bool { return o.over() || ready() })
}

func (o *Operator) spawn(task func()) {
	o.running++
	o.loop.Go(func() { task(); o.running-- })
}
