package main

import "math"

// never is a time that does not come.
var never = math.Inf(1)

// Loop lets one goroutine run at a time, and keeps the time, in ms. Time jumps to what is due next when
// all wait. As only one runs, nothing in this program takes a lock.
type Loop struct {
	now   float64
	tasks int
	waits []*wait
	over  chan struct{}
}

// wait is a goroutine that waits: until ready() says so, or until a time.
type wait struct {
	due   float64
	ready func() bool
	turn  chan struct{}
}

// Now is the time.
func (l *Loop) Now() float64 { return l.now }

// Go starts a task. It runs at once, and its starter goes on when it waits.
func (l *Loop) Go(task func()) {
	l.tasks++
	starter := &wait{never, func() bool { return true }, make(chan struct{}, 1)}
	l.waits = append([]*wait{starter}, l.waits...)
	go func() {
		task()
		l.tasks--
		l.pass()
	}()
	<-starter.turn
}

// Until lets others run until ready() is true or the time has come. It returns ready().
func (l *Loop) Until(due float64, ready func() bool) bool {
	if ready() {
		return true
	}
	w := &wait{due, ready, make(chan struct{}, 1)}
	l.waits = append(l.waits, w)
	l.pass()
	<-w.turn
	return ready()
}

// Run runs a task, and all that it has started, to the end. It returns false if it waits for what never comes.
func (l *Loop) Run(task func()) bool {
	ended := false
	l.over = make(chan struct{})
	l.Go(func() { task(); ended = true })
	l.pass()
	<-l.over
	return ended
}

// pass gives the turn to the first that is ready, or else to the first that is due.
func (l *Loop) pass() {
	next := -1
	for i, w := range l.waits {
		if w.ready() {
			l.give(i)
			return
		}
		if !math.IsInf(w.due, 1) && (next < 0 || w.due < l.waits[next].due) {
			next = i
		}
	}
	if next >= 0 {
		l.now = math.Max(l.now, l.waits[next].due)
		l.give(next)
	} else {
		close(l.over)
	}
}

func (l *Loop) give(i int) {
	w := l.waits[i]
	l.waits = append(l.waits[:i], l.waits[i+1:]...)
	w.turn <- struct{}{}
}
