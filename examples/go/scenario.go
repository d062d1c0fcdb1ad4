package main

import "encoding/json"

// Scenario is what the suite asks for, as far as this program plays it.
type Scenario struct {
	Mode            string          `json:"mode"`
	Capacity        int             `json:"capacity"`
	MaxHeld         int             `json:"max_held"`
	Timeout         *float64        `json:"timeout"`
	Retry           *PlannedRetry   `json:"retry"`
	Inputs          []Timed         `json:"inputs"`
	Plans           []Plan          `json:"plans"`
	Handled         bool            `json:"handled"`
	FailuresHandled bool            `json:"failures_handled"`
	Hooks           string          `json:"hooks"`
	HookTakes       float64         `json:"hook_takes"`
	HookError       string          `json:"hook_error"`
	SourceEndsAt    float64         `json:"source_ends_at"`
	SourceError     string          `json:"source_error"`
	CloseTakes      float64         `json:"close_takes"`
	CloseError      bool            `json:"close_error"`
	Sink            []SinkStep      `json:"sink"`
	CancelAt        *float64        `json:"cancel_at"`
	FiguresAt       []float64       `json:"figures_at"`
	Form            string          `json:"form"`
	Copies          bool            `json:"copies"`
	Contexts        bool            `json:"contexts"`
	Requests        []any           `json:"requests"`
	Crashes         []any           `json:"crashes"`
	Restore         json.RawMessage `json:"restore"`
	Batch           json.RawMessage `json:"batch"`
	Cache           json.RawMessage `json:"cache"`
}

// Timed is an element of the input and its time.
type Timed struct {
	At      float64  `json:"at"`
	Element *Element `json:"element"`
	Blocks  float64  `json:"blocks"`
}

// Plan says what the calls of a value do, and its handlers.
type Plan struct {
	Value   json.RawMessage `json:"value"`
	Steps   []Step          `json:"steps"`
	Handler *Does           `json:"handler"`
	Failure *Does           `json:"failure"`
}

// Does is what a call or a handler gives; to reply is the default.
type Does struct {
	Does       string  `json:"does"`
	Results    Results `json:"results"`
	Error      string  `json:"error"`
	RetryAfter float64 `json:"retry_after"`
	Blocks     float64 `json:"blocks"`
}

// Step is what one call does, and when.
type Step struct {
	Does
	After   float64 `json:"after"`
	Swallow bool    `json:"swallow"`
	CleanUp float64 `json:"clean_up"`
}

// PlannedRetry says how calls are repeated.
type PlannedRetry struct {
	MaxAttempts    int      `json:"max_attempts"`
	Initial        float64  `json:"initial"`
	Multiplier     float64  `json:"multiplier"`
	Cap            float64  `json:"cap"`
	Jitter         float64  `json:"jitter"`
	AttemptTimeout *float64 `json:"attempt_timeout"`
	OnError        string   `json:"on_error"`
	OnResult       string   `json:"on_result"`
}

// UnmarshalJSON begins with the defaults of the protocol.
func (r *PlannedRetry) UnmarshalJSON(text []byte) error {
	type fields PlannedRetry
	given := fields{MaxAttempts: 3, Initial: 40, Multiplier: 2, Cap: 60000, OnError: "any"}
	err := json.Unmarshal(text, &given)
	*r = PlannedRetry(given)
	return err
}

// SinkStep is what the consumer does next.
type SinkStep struct {
	Does string  `json:"does"`
	N    float64 `json:"n"`
}

// Request is a line of the suite.
type Request struct {
	Scenario Scenario `json:"scenario"`
	Number   *int     `json:"number,omitempty"`
}

// Reply is a line of this program.
type Reply struct {
	Trace  *Trace `json:"trace,omitempty"`
	Error  string `json:"error,omitempty"`
	Number *int   `json:"number,omitempty"`
}

// Trace holds the one leg that there is without snapshots.
type Trace struct {
	Legs []Leg `json:"legs"`
}

// Leg is one life of the operator.
type Leg struct {
	Ending    Ending  `json:"ending"`
	Events    []event `json:"events"`
	Mode      string  `json:"mode"`
	Capacity  int     `json:"capacity"`
	TasksLeft int     `json:"tasks_left"`
	Abandoned int     `json:"abandoned"`
}

// Ending says how the consumer found the leg over.
type Ending struct {
	How       string   `json:"how"`
	At        float64  `json:"at"`
	Error     string   `json:"error"`
	Record    *Element `json:"record"`
	Cause     string   `json:"cause"`
	Unchanged bool     `json:"unchanged"`
	Again     string   `json:"again"`
	After     string   `json:"after"`
	Detail    string   `json:"detail"`
	Number    *int     `json:"number"`
	Attempts  int      `json:"attempts"`
}

type event map[string]any

// undeclared names what a scenario asks for and this program does not declare.
func (s *Scenario) undeclared() string {
	given := func(raw json.RawMessage) bool { return raw != nil && string(raw) != "null" }
	for name, asked := range map[string]bool{
		"form": s.Form == "callback", "copies": s.Copies, "contexts": s.Contexts,
		"requests": len(s.Requests) > 0, "crashes": len(s.Crashes) > 0,
		"restore": given(s.Restore), "batch": given(s.Batch), "cache": given(s.Cache),
	} {
		if asked {
			return name
		}
	}
	return ""
}
