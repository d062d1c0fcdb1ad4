import { stringify } from './json.js';

/** Writes the events of a leg: everything that is observed goes through here. */
export class Recorder {
  events = [];
  #passing = new Set();
  #calls = 0;
  #batches = 0;
  #ordinals = new Map();
  #plans;

  constructor(scenario, clock) {
    this.clock = clock;
    this.#plans = new Map((scenario.plans ?? []).map((plan) => [identity(plan.value), plan]));
  }

  add(type, fields) {
    this.events.push({ type, at: this.clock.now(), ...fields });
  }

  /** Block the loop for so many ms; undefined or 0 is not at all. */
  block(ms) {
    if (!ms) return;
    const at = this.clock.now();
    this.clock.block(ms);
    this.events.push({ type: 'blocked', at, until: this.clock.now() });
  }

  /** Remember an error that has to come out as it is. */
  passes(error) {
    this.#passing.add(error);
    return error;
  }

  isPassing(error) {
    return this.#passing.has(error);
  }

  plan(value) {
    return this.#plans.get(identity(value));
  }

  /** Note that the function is called with several values; return the same for each as of a call. */
  batchStarted(values) {
    if (values.length === 0) this.add('misuse', { what: 'batch-empty', detail: 'a call without values' });
    const batch = this.#batches;
    this.#batches += 1;
    return values.map((value) => this.callStarted(value, batch));
  }

  /** Note a call; return its number, and the step of its plan. */
  callStarted(value, batch) {
    const number = this.#calls;
    this.#calls += 1;
    this.add('call', { call: number, value, batch });
    const key = identity(value);
    const ordinal = this.#ordinals.get(key) ?? 0;
    this.#ordinals.set(key, ordinal + 1);
    const plan = this.#plans.get(key);
    if (!plan) return [number, { results: [value] }];
    const steps = plan.steps ?? [{}];
    return [number, steps[Math.min(ordinal, steps.length - 1)]];
  }
}

/** The text under which a value is looked up: its JSON, with the keys of its objects in order. */
function identity(value) {
  return stringify(value, (_, part) => {
    if (part === null || typeof part !== 'object' || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
