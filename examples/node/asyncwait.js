/**
 * An async-wait operator: calls a function for each record of a stream, so many at a time, and gives
 * the results as a stream again. Plain JavaScript, without dependencies.
 *
 *     const results = await openOperator(elements, fetchUser, { capacity: 10, timeout: 5_000 });
 *     try {
 *       for await (const element of results) console.log(element.value);
 *     } finally {
 *       await results.return();
 *     }
 */
import { Gathering } from './batches.js';
import { CallTimedOut, TooManyAbandonedCalls } from './errors.js';
import { collect, gave, outcomesOf, raised } from './outcomes.js';
import { Ordered, Unordered } from './queues.js';
import { afterFailure, afterResults } from './retry.js';

/** Milliseconds in which an aborted call may end, before it counts as abandoned. */
const GRACE = 10;

const END = Object.freeze({ done: true, value: undefined });
const QUEUES = { ordered: Ordered, unordered: Unordered };
const FENCES = new Set(['watermark', 'status']);

/** The clock of the machine; a test has its own. */
const realClock = { now: () => performance.now(), setTimeout, clearTimeout };

/**
 * Open an operator.
 *
 * @param {AsyncIterator} source gives elements: `{ type: 'record', value, timestamp, key }`,
 *   `{ type: 'watermark', timestamp }`, `{ type: 'status', idle }`, `{ type: 'latency', ... }`
 * @param {object} fn `call(value, signal)` returns a promise of a collection of results; where it has
 *   them, `timeout(value)` gives results for what is late, and `open()` and `close()` run around all calls.
 *   With `batch`, `call(values, signal)` returns a promise of such a collection for each value, in a list
 *   in the same order or in a Map from values; an Error among them fails its record alone
 * @param {object} [options]
 * @param {'ordered' | 'unordered'} [options.mode]
 * @param {number} [options.capacity] records in flight at most
 * @param {number} [options.timeout] ms from a record's first call to its deadline
 * @param {import('./retry.js').Retry} [options.retry]
 * @param {import('./batches.js').Batch} [options.batch]
 * @param {AbortSignal} [options.signal] who aborts it does not want to wait for `open` any more
 */
export async function openOperator(source, fn, options = {}) {
  const operator = new AsyncWait(source, fn, options);
  try {
    await fn.open?.(options.signal);
  } catch (error) {
    await source.return?.();
    throw error;
  }
  return operator;
}

class AsyncWait {
  #source;
  #fn;
  #capacity;
  #timeout;
  #retry;
  #clock;
  #gathering; // where records share calls

  #queue;
  #used = 0; // slots
  #waiting; // the element that was read and waits for room
  #markers = [];
  #handing; // the results of a record that is coming out
  #reader; // who waits in next()

  #isAsking = false;
  #hasEnded = false; // the source
  #sourceError;
  #closedSource;
  #failure;
  #isOver = false;
  #left;

  #running = new Map(); // promises of calls
  #timers = new Set();
  #abandoned = new Set(); // calls that run on
  #abandonedEver = 0;
  #mostAbandoned;

  constructor(source, fn, { mode = 'ordered', capacity = 100, timeout, retry, batch, clock, queues } = {}) {
    this.#source = source;
    this.#fn = fn;
    this.#capacity = capacity;
    this.#timeout = timeout;
    this.#retry = retry;
    this.#clock = clock ?? realClock;
    this.#queue = new { ...QUEUES, ...queues }[mode]();
    this.#gathering = batch && this.#gatheringFor(batch);
    this.#mostAbandoned = batch ? batch.inFlight : capacity;
  }

  #gatheringFor(batch) {
    return new Gathering(batch, this.#retry?.maxAttempts ?? 1, {
      now: () => this.#clock.now(),
      after: (ms, action) => this.#after(ms, action),
      cancel: (timer) => this.#cancel(timer),
      call: (entries) => this.#call(entries),
      isLate: (entry) => this.#isLate(entry),
      hasEnded: () => this.#hasEnded && !this.#waiting,
      isStuck: () => this.#used >= this.#capacity && !this.#handing && !this.#queue.isReady,
    });
  }

  [Symbol.asyncIterator]() {
    return this;
  }

  /** How many calls were aborted and ran on. */
  get abandoned() {
    return this.#abandonedEver;
  }

  /** The next element; who aborts `signal` does not wait any more, and has lost nothing. */
  next({ signal } = {}) {
    if (this.#reader) return Promise.reject(new Error('next() while somebody waits for an element'));
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        this.#reader = undefined;
        reject(signal.reason);
      };
      signal?.addEventListener('abort', giveUp, { once: true });
      const served = () => signal?.removeEventListener('abort', giveUp);
      this.#reader = { resolve, reject, served };
      this.#read();
      this.#emit();
    });
  }

  /** Leave: abort what runs, and wait until it has ended; close the source and the function. */
  return() {
    this.#left ??= this.#leave();
    return this.#left;
  }

  // ---- in ----

  /** Ask the source for an element, unless one waits already. */
  #read() {
    const isFull = this.#waiting || this.#markers.length >= this.#capacity;
    if (this.#isAsking || isFull || this.#hasEnded || this.#isOver) return;
    this.#isAsking = true;
    // What has been answered is noted first: the source may keep us busy past a deadline.
    queueMicrotask(() => this.#isOver || this.#ask());
  }

  #ask() {
    this.#source.next().then(
      ({ done, value }) => this.#taken(done, value),
      (error) => {
        this.#sourceError = { error };
        this.#taken(true);
      },
    );
  }

  #taken(done, element) {
    this.#isAsking = false;
    if (this.#isOver) return;
    if (done) {
      this.#hasEnded = true;
      this.#closeSource();
      this.#gathering?.lookSoon();
    } else if (element.type === 'latency') {
      this.#markers.push(element);
    } else {
      this.#waiting = element;
      this.#admit();
    }
    this.#read();
    this.#emit();
  }

  /** Give what waits a slot, if there is one. */
  #admit() {
    if (!this.#waiting || this.#used >= this.#capacity) return;
    const element = this.#waiting;
    this.#waiting = undefined;
    this.#used += 1;
    const isFence = FENCES.has(element.type);
    const entry = isFence ? { fence: element } : { record: element, attempts: 0, deadline: Infinity };
    this.#queue.add(entry);
    if (isFence) this.#gathering?.lookSoon();
    else this.#start(entry);
  }

  // ---- calls ----

  /** Have the function called for a record: now, or together with others. */
  #start(entry) {
    if (this.#gathering) this.#gathering.join(entry);
    else this.#call([entry]);
  }

  #call(entries) {
    const call = { entries, controller: new AbortController() };
    for (const entry of entries) this.#begin(entry, call);
    const promise = this.#invoke(call).then(
      (given) => this.#returned(call, given),
      (error) => this.#threw(call, error),
    );
    this.#running.set(call, promise);
    return call;
  }

  #begin(entry, call) {
    if (entry.attempts === 0 && this.#timeout !== undefined) {
      entry.deadline = this.#clock.now() + this.#timeout;
      entry.timer = this.#after(this.#timeout, () => this.#late(entry));
    }
    entry.attempts += 1;
    entry.call = call;
  }

  #invoke({ entries, controller: { signal } }) {
    const values = valuesOf(entries);
    try {
      return Promise.resolve(this.#fn.call(this.#gathering ? values : values[0], signal));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  #returned(call, given) {
    let outcomes;
    try {
      outcomes = this.#gathering ? outcomesOf(valuesOf(call.entries), given) : [gave(given)];
    } catch (error) {
      this.#threw(call, error);
      return;
    }
    this.#ended(call, outcomes, false);
  }

  #threw(call, error) {
    const outcomes = call.entries.map(() => raised(error));
    this.#ended(call, outcomes, true);
  }

  /** A call has ended; what it came to counts for the records that still wait for it. */
  #ended(call, outcomes, hasThrown) {
    this.#running.delete(call);
    this.#abandoned.delete(call);
    this.#gathering?.ended(call, hasThrown);
    const now = this.#clock.now();
    call.entries.forEach((entry, place) => {
      if (entry.call === call && !this.#isOver) this.#answered(entry, outcomes[place], now);
    });
  }

  #answered(entry, outcome, now) {
    entry.call = undefined;
    if (this.#isLate(entry, now)) {
      this.#late(entry);
      return;
    }
    this.#attempt(() => {
      const [results, wait] = this.#judged(entry, outcome, now);
      if (wait === undefined) this.#decide(entry, results);
      else entry.backOff = this.#after(wait, () => this.#repeat(entry));
    });
  }

  /** The back-off of a record is over; a busy loop may have noticed that behind its deadline. */
  #repeat(entry) {
    if (this.#isLate(entry)) this.#late(entry);
    else this.#start(entry);
  }

  #isLate({ deadline }, now = this.#clock.now()) {
    return now > deadline;
  }

  /** The results of an outcome, or for how long to back off: a back-off has to end before the deadline. */
  #judged(entry, outcome, now) {
    let results, failure;
    try {
      results = outcome(entry);
    } catch (error) {
      failure = error;
      entry.lastError = failure.cause;
    }
    const wait = failure
      ? afterFailure(this.#retry, entry, failure)
      : afterResults(this.#retry, entry, results);
    if (wait !== undefined && now + wait < entry.deadline) return [undefined, wait];
    if (failure) throw failure;
    return [results];
  }

  /** The deadline of a record has passed. */
  #late(entry) {
    this.#cancel(entry.timer);
    this.#cancel(entry.backOff);
    this.#leaveCall(entry);
    this.#attempt(() => this.#decide(entry, collect(entry, this.#standIn(entry))));
  }

  #standIn({ record, attempts, lastError }) {
    let given;
    try {
      given = this.#fn.timeout?.(record.value);
    } catch (cause) {
      throw new CallTimedOut(record, 'too late, and its handler raised', { cause, attempts });
    }
    if (given === undefined || given === null) {
      throw new CallTimedOut(record, 'too late, and nothing stands in for it', { cause: lastError, attempts });
    }
    return given;
  }

  /** A record does not wait for its call any more; if nobody does, the call is aborted. */
  #leaveCall(entry) {
    const { call } = entry;
    entry.call = undefined;
    if (!call || call.entries.some((other) => other.call === call)) return;
    this.#gathering?.left(call);
    this.#abort(call);
  }

  #abort(call) {
    call.controller.abort();
    this.#after(GRACE, () => {
      if (!this.#running.has(call)) return;
      this.#abandoned.add(call);
      this.#abandonedEver += 1;
      if (this.#abandoned.size > this.#mostAbandoned) {
        this.#fail(new TooManyAbandonedCalls(undefined, `${this.#abandoned.size} calls run on`));
      }
    });
  }

  /** Do what decides a record; what that raises fails the operator. */
  #attempt(decide) {
    try {
      decide();
    } catch (failure) {
      this.#fail(failure);
    }
  }

  #decide(entry, results) {
    this.#cancel(entry.timer);
    this.#gathering?.decided(entry);
    entry.results = results;
    this.#queue.finish(entry);
    this.#emit();
  }

  // ---- out ----

  /** Give whoever waits what there is. */
  #emit() {
    while (this.#reader) {
      const next = this.#next();
      if (!next) return;
      const { resolve, reject, served } = this.#reader;
      this.#reader = undefined;
      served();
      if (this.#failure) reject(this.#failure.error);
      else resolve(next);
    }
  }

  #next() {
    if (this.#isOver) return END;
    if (this.#handing) return this.#nextResult();
    if (this.#markers.length > 0) return this.#out(this.#markers.shift());
    for (let entry; (entry = this.#queue.shift()); ) {
      if (entry.fence) return this.#out(entry.fence, this.#free());
      if (entry.results.length > 0) {
        this.#handing = { record: entry.record, left: entry.results };
        return this.#nextResult();
      }
      this.#free();
    }
    return this.#hasEnded && this.#used === 0 && !this.#waiting ? this.#end() : undefined;
  }

  #nextResult() {
    const { record, left } = this.#handing;
    const result = { ...record, value: left.shift() };
    if (left.length === 0) {
      this.#handing = undefined;
      this.#free();
    }
    return this.#out(result);
  }

  #out(element) {
    this.#read();
    return { done: false, value: element };
  }

  /** Free a slot: somebody may wait for it. */
  #free() {
    this.#used -= 1;
    this.#admit();
    this.#read();
  }

  // ---- the end ----

  #end() {
    if (this.#sourceError) this.#failure = this.#sourceError;
    this.#stop();
    return END;
  }

  #fail(error) {
    if (this.#isOver) return;
    this.#failure = { error };
    this.#stop();
    this.#emit();
  }

  /** Begin nothing any more, and abort what runs. */
  #stop() {
    this.#isOver = true;
    for (const timer of this.#timers) this.#clock.clearTimeout(timer);
    this.#timers.clear();
    this.#gathering?.close();
    for (const { controller } of this.#running.keys()) controller.abort();
    this.#closeSource();
  }

  #closeSource() {
    this.#closedSource ??= (async () => this.#source.return?.())();
    this.#closedSource.catch(() => {}); // whoever leaves is told
  }

  async #leave() {
    this.#stop();
    this.#emit();
    const closing = [this.#closedSource, ...this.#running.values()];
    const [source] = await Promise.allSettled(closing);
    const [fn] = await Promise.allSettled([(async () => this.#fn.close?.())()]);
    const wrong = [source, fn].find(({ status }) => status === 'rejected');
    if (wrong && !this.#failure) throw wrong.reason;
    return END;
  }

  #after(ms, action) {
    const timer = this.#clock.setTimeout(() => {
      this.#timers.delete(timer);
      action();
    }, ms);
    this.#timers.add(timer);
    return timer;
  }

  #cancel(timer) {
    if (!this.#timers.delete(timer)) return;
    this.#clock.clearTimeout(timer);
  }
}

const valuesOf = (entries) => entries.map(({ record }) => record.value);
