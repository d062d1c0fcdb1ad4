package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
)

// planned is an error that a scenario asks for, by its name.
type planned struct{ name string }

func (e *planned) Error() string { return e.name + ", as planned" }

// harness surrounds an operator with a source, a function and a consumer, and writes down what happens.
type harness struct {
	Loop
	Scenario
	op      *Operator
	leg     Leg
	next    int              // input
	calls   int              // so far
	called  map[string]int   // so far, for each value
	plans   map[string]*Plan // of each value
	numbers map[*Element]int // of the records
	own     []error          // of the source, of closing it, of the hooks
	over    bool             // the consumer knows that the leg is over
	helpers int              // tasks of the harness
	rest    []SinkStep       // not carried out, because the stream has failed
}

// play plays a scenario.
func play(s Scenario) *Trace {
	h := &harness{Scenario: s, called: map[string]int{}, plans: map[string]*Plan{}, numbers: map[*Element]int{}}
	h.leg = Leg{Mode: s.Mode, Capacity: s.Capacity, Events: []event{}}
	for i := range s.Plans {
		h.plans[sameJSON(s.Plans[i].Value)] = &s.Plans[i]
	}
	if !h.Run(h.consume) {
		h.leg.Ending = Ending{How: "hung", At: rounded(h.Now())}
	}
	return &Trace{Legs: []Leg{h.leg}}
}

// rounded is a time as traces have it, so that equal instants are equal.
func rounded(ms float64) float64 { return math.Round(ms*1000) / 1000 }

func (h *harness) note(what string, more event) {
	e := event{"type": what, "at": rounded(h.Now())}
	for name, value := range more {
		e[name] = value
	}
	h.leg.Events = append(h.leg.Events, e)
}

func (h *harness) sleep(ms float64) {
	if ms > 0 {
		h.Until(h.Now()+ms, func() bool { return false })
	}
}

func (h *harness) block(ms float64) {
	if ms > 0 {
		h.note("blocked", event{"until": rounded(h.Now() + ms)})
		h.now += ms
	}
}

// later does something at a time, unless it is no longer wanted.
func (h *harness) later(at float64, done func() bool, do func()) {
	h.helpers++
	h.Go(func() {
		if !h.Until(at, done) {
			do()
		}
		h.helpers--
	})
}

// The source.

// Next hands over the next input when it is due.
func (h *harness) Next(ctx context.Context) (*Element, error) {
	h.note("asked", nil)
	due := h.SourceEndsAt
	if h.next < len(h.Inputs) {
		due = h.Inputs[h.next].At
	}
	if h.Until(due, func() bool { return ctx.Err() != nil }) {
		return nil, ctx.Err()
	}
	if h.next == len(h.Inputs) {
		h.note("source-ended", event{"raised": h.SourceError != ""})
		return h.end()
	}
	input := h.Inputs[h.next]
	h.block(input.Blocks)
	h.note("taken", event{"index": h.next})
	h.next++
	if input.Element.Type == "record" {
		h.numbers[input.Element] = len(h.numbers)
	}
	return input.Element, nil
}

func (h *harness) end() (*Element, error) {
	var err error
	switch h.SourceError {
	case "":
		return nil, io.EOF
	case "no-element":
		return &Element{}, nil
	case "contract":
		err = &Error{Kind: "CallFailed"}
	case "cancelled":
		err = context.Canceled
	default:
		err = &planned{"PlannedSourceError"}
	}
	h.own = append(h.own, err)
	return nil, err
}

// Close closes the source.
func (h *harness) Close() error {
	h.sleep(h.CloseTakes)
	h.note("source-closed", nil)
	return h.ownError(h.CloseError, "PlannedSourceError")
}

func (h *harness) ownError(raises bool, name string) error {
	if !raises {
		return nil
	}
	h.own = append(h.own, &planned{name})
	return h.own[len(h.own)-1]
}

// The function.

func (h *harness) function() Function {
	fn := Function{Open: h.hook("open"), Close: h.hook("close"), Call: h.call}
	if h.Handled {
		fn.Timeout = func(e *Element) (any, error) {
			h.note("handler", event{"value": e.Value, "record": h.numbers[e]})
			return h.handle(h.plan(e).Handler)
		}
	}
	if h.FailuresHandled {
		fn.Failure = func(e *Element, err *Error) (any, error) {
			h.note("failure", event{"value": e.Value, "record": h.numbers[e], "error": err.Kind,
				"cause": nameOf(err.Cause), "attempts": err.Attempts})
			return h.handle(h.plan(e).Failure)
		}
	}
	return fn
}

func (h *harness) hook(name string) func() error {
	return func() error {
		if h.Hooks != "plain" && h.Hooks != "coroutine" {
			return nil
		}
		if h.Hooks == "coroutine" {
			h.sleep(h.HookTakes)
		}
		h.note("hook", event{"hook": name})
		return h.ownError(h.HookError == name, "Planned")
	}
}

func (h *harness) plan(e *Element) *Plan {
	if plan := h.plans[sameJSON(e.Value)]; plan != nil {
		return plan
	}
	return &Plan{Steps: []Step{{Does: Does{Results: Results{e.Value}}}}}
}

// step is what the present call of a value does: its own step, or the last.
func (h *harness) step(e *Element) Step {
	steps := h.plan(e).Steps
	if len(steps) == 0 {
		steps = []Step{{}}
	}
	name := sameJSON(e.Value)
	k := h.called[name]
	h.called[name]++
	if k >= len(steps) {
		k = len(steps) - 1
	}
	return steps[k]
}

func (h *harness) call(ctx context.Context, e *Element) (any, error) {
	number, step := h.calls, h.step(e)
	h.calls++
	h.note("call", event{"call": number, "value": e.Value, "record": h.numbers[e]})
	due := h.Now() + step.After
	if step.Does.Does == "never" {
		due = never
	}
	cancelled := func() bool { return ctx.Err() != nil }
	if due > h.Now() && h.Until(due, cancelled) && h.Now() < due {
		h.note("call-cancelled", event{"call": number})
		h.sleep(step.CleanUp)
		if !step.Swallow {
			h.note("call-ended", event{"call": number, "how": "cancelled"})
			return nil, ctx.Err()
		}
	}
	h.block(step.Blocks)
	how, results := "returned", step.Results
	switch step.Does.Does {
	case "raise":
		how, results = "raised", nil
	case "misreturn":
		how, results = "misreturned", nil
	}
	h.note("call-ended", event{"call": number, "how": how, "results": append(Results{}, results...)})
	return step.give()
}

func (h *harness) handle(does *Does) (any, error) {
	if does == nil {
		return nil, nil
	}
	h.block(does.Blocks)
	return does.give()
}

// give is what a call or a handler gives, or its error.
func (d Does) give() (any, error) {
	switch d.Does {
	case "none":
		return nil, nil
	case "raise":
		return nil, d.raised()
	case "misreturn":
		return d.misreturned(), nil
	}
	return append(Results{}, d.Results...), nil
}

func (d Does) raised() error {
	switch d.Error {
	case "":
		return &planned{"Planned"}
	case "RetryAfter":
		return &RetryAfter{d.RetryAfter}
	case "CancelledError":
		return context.Canceled
	}
	return &planned{d.Error}
}

func (d Does) misreturned() any {
	switch d.Error {
	case "text":
		return "text"
	case "bytes":
		return []byte("bytes")
	case "number":
		return 1
	case "broken":
		return Stream(func(yield func(json.RawMessage)) error {
			yield(json.RawMessage(`"half"`))
			return &planned{"Planned"}
		})
	}
	return nil
}

func (h *harness) config() Config {
	c := Config{Mode: h.Mode, Capacity: h.Capacity, MaxHeld: h.MaxHeld, Timeout: or(h.Timeout, never)}
	if r := h.Retry; r != nil {
		c.Retry = &Retry{r.MaxAttempts, r.Initial, r.Multiplier, r.Cap, r.Jitter / 100,
			or(r.AttemptTimeout, never), r.onError, r.onResult}
	}
	return c
}

func (r *PlannedRetry) onError(err error) (bool, error) {
	isValueError := nameOf(err) == "ValueError"
	switch r.OnError {
	case "any":
		return err != context.Canceled, nil
	case "at-once":
		if err != context.Canceled {
			return true, &RetryAfter{0}
		}
		return false, nil
	case "breaks":
		return false, &planned{"LookupError"}
	case "told":
		if isValueError {
			return true, &RetryAfter{120}
		}
	}
	return isValueError, nil
}

func (r *PlannedRetry) onResult(out Results) (bool, error) {
	switch r.OnResult {
	case "empty":
		return len(out) == 0, nil
	case "pair":
		return len(out) == 2, nil
	case "breaks":
		return false, &planned{"LookupError"}
	}
	return false, nil
}

func or(value *float64, other float64) float64 {
	if value == nil {
		return other
	}
	return *value
}

// The consumer.

func (h *harness) consume() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	isOver := func() bool { return h.over }
	if h.CancelAt != nil {
		h.later(*h.CancelAt, isOver, cancel)
	}
	op, err := Open(&h.Loop, h.config(), h.function(), h)
	h.op = op
	if err != nil {
		h.ending("failed", err)
		h.note("closed", nil)
		return
	}
	for _, at := range h.FiguresAt {
		h.later(at, isOver, h.figures)
	}
	if err = h.script(ctx); err == nil {
		h.note("left", nil)
		h.ending("left", nil)
	} else if err == io.EOF {
		h.ending("finished", nil)
		h.leg.Ending.Again = h.again(err)
	} else {
		h.ending("failed", err)
		h.stay()
		h.leg.Ending.Again = h.again(err)
	}
	h.leave(err)
}

// leave closes the operator, which may fail, and reads on.
func (h *harness) leave(ended error) {
	err := h.op.Close()
	failed := err != nil && (ended == nil || ended == io.EOF)
	if failed {
		at := h.leg.Ending.At
		h.ending("failed", err)
		if ended == io.EOF {
			h.leg.Ending.At = at
		}
	}
	h.note("closed", nil)
	if len(h.FiguresAt) > 0 {
		h.figures()
	}
	if ended == nil {
		ended = io.EOF
	}
	if !failed {
		h.leg.Ending.After = h.again(ended)
	}
	h.leg.TasksLeft = h.tasks - h.helpers - 1
	h.leg.Abandoned = h.op.Statistics().Abandoned
}

// script follows the script and then reads to the end. It returns how the stream ended, nil if it leaves.
func (h *harness) script(ctx context.Context) error {
	cancelled := func() bool { return ctx.Err() != nil }
	for i, step := range h.Sink {
		var err error
		switch step.Does {
		case "read":
			for n := 0.0; n < step.N && err == nil; n++ {
				err = h.read(ctx)
			}
		case "pause":
			h.Until(h.Now()+step.N, cancelled)
		case "block":
			h.block(step.N)
		case "give_up":
			err = h.giveUp(ctx, step.N)
		case "leave", "raise":
			return nil
		}
		if cancelled() {
			return nil
		} else if err != nil {
			h.rest = h.Sink[i+1:]
			return err
		}
	}
	for {
		if err := h.read(ctx); cancelled() {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// stay pauses after a failure where the script says so.
func (h *harness) stay() {
	for _, step := range h.rest {
		if step.Does == "pause" {
			h.Until(h.Now()+step.N, func() bool { return false })
		}
	}
}

func (h *harness) read(ctx context.Context) error {
	h.note("waits", nil)
	e, err := h.op.Next(ctx)
	if err == nil {
		h.note("took", event{"element": e})
	}
	return err
}

func (h *harness) giveUp(ctx context.Context, ms float64) error {
	wait, cancel := context.WithCancel(ctx)
	defer cancel()
	h.later(h.Now()+ms, func() bool { return wait.Err() != nil }, cancel)
	err := h.read(wait)
	if err != nil && wait.Err() != nil {
		h.note("gave-up", nil)
		return nil
	}
	return err
}

// again reads three times more, and says whether the end is the same.
func (h *harness) again(ended error) string {
	for i := 0; i < 3; i++ {
		if e, err := h.op.Next(context.Background()); err != ended {
			return fmt.Sprintf("%v, %v", e, err)
		}
	}
	if ended == io.EOF {
		return "stop"
	}
	return "same"
}

func (h *harness) figures() {
	text, _ := json.Marshal(h.op.Statistics())
	figures := event{}
	json.Unmarshal(text, &figures)
	h.note("figures", figures)
}

func (h *harness) ending(how string, err error) {
	h.over = true
	h.leg.Ending = Ending{How: how, At: rounded(h.Now())}
	if err == nil {
		return
	}
	end := &h.leg.Ending
	end.Error, end.Detail, end.Unchanged = nameOf(err), err.Error(), err == errNoElement
	for _, own := range h.own {
		end.Unchanged = end.Unchanged || err == own
	}
	if failed, ok := err.(*Error); ok && failed.Record != nil {
		number := h.numbers[failed.Record]
		end.Record, end.Number, end.Attempts = failed.Record, &number, failed.Attempts
	}
	if cause := errors.Unwrap(err); cause != nil {
		end.Cause = nameOf(cause)
	}
}

// nameOf is the name that the protocol has for an error.
func nameOf(err error) string {
	switch err := err.(type) {
	case nil:
		return ""
	case *planned:
		return err.name
	case *Error:
		return err.Kind
	case *RetryAfter:
		return "RetryAfter"
	}
	switch err {
	case context.Canceled:
		return "CancelledError"
	case errLimit:
		return "TimeoutError"
	case errNoElement:
		return "TypeError"
	}
	return err.Error()
}

// sameJSON is the text of a value with its keys in order.
func sameJSON(raw json.RawMessage) string {
	var value any
	decode(raw, &value)
	text, _ := json.Marshal(value)
	return string(text)
}
