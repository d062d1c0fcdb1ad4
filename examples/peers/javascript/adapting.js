/**
 * What stands round each peer: the same few lines, and nothing that a peer would have to do.
 *
 * A peer is `(records, call, options) => iterator of the results of each record`: `records` is the
 * input, `call(record, signal)` calls the function, and `options.capacity` calls may run at a time.
 * The hooks of the function are run, and the source is closed, as in `../adapting.py`.
 */
import { CallFailed, CallTimedOut } from '../../node/errors.js';
import { serve } from '../../node/harness/serve.js';
import { collect } from '../../node/outcomes.js';

/** Turns of the loop in one instant: some peers hand on by `setImmediate`. */
const TURNS = 20;

const NEVER = new AbortController().signal;
const END = Object.freeze({ done: true, value: undefined });

// Of what nobody has waited for; whatever it means, a rule says it.
process.on('unhandledRejection', () => {});

/** Hold a peer to the suite: what it has besides the core, by its own words. */
export function hold(peer, ...profiles) {
  return serve((...given) => openPeer(peer, ...given), { profiles, lacks: ['one-loop'] }, TURNS);
}

async function openPeer(peer, source, fn, { clock, signal, ...options }) {
  keepTime(clock);
  try {
    await fn.open?.(signal);
    const results = peer(input(source), caller(fn), { ...options, late: lateness(fn) });
    return new Results(results, source, fn);
  } catch (error) {
    await source.return();
    throw error;
  }
}

/** The input as a generator, whose reads queue up; closing it is left to `Results`. */
async function* input(source) {
  for (let read; !(read = await source.next()).done; ) yield read.value;
}

/** The peer's timers are those of the clock that jumps; as Node's they take a millisecond at least. */
function keepTime(clock) {
  const setTimeout = (action, ms, ...given) => clock.setTimeout(() => action(...given), Math.max(1, ms));
  const setInterval = (action, ms, ...given) => {
    const again = () => {
      timer.next = setTimeout(again, ms);
      action(...given);
    };
    const timer = { next: setTimeout(again, ms) };
    return timer;
  };
  const clearInterval = (timer) => clock.clearTimeout(timer?.next);
  Object.assign(globalThis, { setTimeout, setInterval, clearTimeout: clock.clearTimeout, clearInterval });
  Date.now = () => 1e12 + clock.now();
}

/** The function of a record; what it raises names the record. */
const caller = (fn) => async (record, signal = NEVER) => {
  let given;
  try {
    given = await fn.call(record.value, signal);
  } catch (cause) {
    throw new CallFailed(record, 'the call failed', { cause, attempts: 1 });
  }
  return resultsOf(record, given);
};

/** What stands in for a record whose time is over, by the peer's clock. */
const lateness = (fn) => (record) => {
  let given;
  try {
    given = fn.timeout?.(record.value);
  } catch (cause) {
    throw new CallTimedOut(record, 'too late, and its handler raised', { cause, attempts: 1 });
  }
  if (given === undefined || given === null) throw new CallTimedOut(record, 'too late', { attempts: 1 });
  return resultsOf(record, given);
};

const resultsOf = (record, given) =>
  collect({ record, attempts: 1 }, given).map((value) => ({ ...record, value }));

/**
 * What comes out of a peer, one result after the other. A read can't be cancelled in JavaScript: who
 * has given up, and reads again, waits for the same promise.
 */
class Results {
  #peer;
  #source;
  #fn;
  #begun = [];
  #read; // what nobody has got yet
  #hasFailed = false;

  constructor(results, source, fn) {
    this.#peer = results[Symbol.asyncIterator]?.() ?? results;
    this.#source = source;
    this.#fn = fn;
  }

  async next({ signal } = {}) {
    const read = (this.#read ??= this.#next());
    if (signal) await Promise.race([read.catch(() => {}), aborted(signal)]);
    this.#read = undefined;
    return read;
  }

  async #next() {
    try {
      while (this.#begun.length === 0) {
        const { done, value } = await this.#peer.next();
        if (done) return END;
        this.#begun.push(...value);
      }
    } catch (error) {
      this.#hasFailed = true;
      throw error;
    }
    return { done: false, value: this.#begun.shift() };
  }

  /** Leave; what fails on the way out is told unless a read has failed. */
  async return() {
    const raised = [];
    this.#begun = [];
    this.#read = undefined;
    for (const part of [() => this.#peer.return?.(), () => this.#fn.close?.(), () => this.#source.return()]) {
      await Promise.resolve().then(part).catch((error) => raised.push(error));
    }
    if (raised.length > 0 && !this.#hasFailed) throw raised[0];
    return END;
  }
}

const aborted = (signal) =>
  new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });

/**
 * An iterator of what a peer pushes, in the order in which it does.
 *
 * @param {Function} subscribe is given `{ next, error, complete }`; returns what stops it
 */
export function pushed(subscribe) {
  const told = [];
  const asked = [];
  let isOver = false;
  const match = () => {
    while (asked.length > 0 && (told.length > 0 || isOver)) asked.shift()(told.shift() ?? (() => END));
  };
  const tell = (given, ends = false) => {
    if (!isOver) told.push(given);
    isOver ||= ends;
    match();
  };
  const stop = subscribe({
    next: (value) => tell(() => ({ done: false, value })),
    error: (error) => tell(() => Promise.reject(error), true),
    complete: () => tell(() => END, true),
  });
  return {
    next: () => new Promise((resolve) => (asked.push((given) => resolve(given())), match())),
    return: async () => {
      stop();
      told.length = 0;
      tell(() => END, true);
      return END;
    },
  };
}
