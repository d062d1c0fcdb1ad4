/** Speaks JSON lines with the suite, and plays what it asks for. */
import { Clock, watched } from './clock.js';
import { Consumer } from './consumer.js';
import { plannedFunction } from './function.js';
import { RetryAfter } from '../errors.js';
import { parse, stringify } from './json.js';
import { Recorder } from './recorder.js';
import { Source } from './source.js';

const PROTOCOL = 2;

/** What no scenario asks of a program that has not declared it. */
const PARTS = ['restore', 'crashes', 'requests', 'figures_at', 'failures_handled', 'max_held', 'copies', 'contexts', 'cache'];

/**
 * Play scenarios until there are no more requests.
 *
 * @param {Function} openOperator what is held to the suite
 * @param {object} declaration its profiles, and what it lacks
 * @param {number} [turns] of the loop in one instant, for an operator that hands on by `setImmediate`
 */
export async function serve(openOperator, declaration, turns) {
  write({ protocol: PROTOCOL, ...declaration });
  for await (const line of lines(process.stdin)) {
    const { scenario, number } = parse(line);
    write({ number, ...(await reply(openOperator, scenario, turns)) });
  }
}

async function reply(openOperator, scenario, turns) {
  const foreign = scenario.form === 'callback' ? 'callback' : PARTS.find((name) => name in scenario);
  if (foreign) return { error: `this harness plays no ${foreign}` };
  try {
    return { trace: await play(openOperator, scenario, turns) };
  } catch (error) {
    return { error: String(error?.stack ?? error) };
  }
}

/** Play a scenario, which has one leg: nothing here is restored. */
export async function play(openOperator, scenario, turns) {
  const clock = new Clock(turns);
  const recorder = new Recorder(scenario, clock);
  const consumer = new Consumer(scenario, recorder);
  const operators = watched(clock);
  const open = (signal) =>
    openOperator(new Source(scenario, recorder), plannedFunction(scenario, recorder), {
      ...config(scenario),
      clock: operators,
      signal,
    });
  const run = consumer.run(open);
  const isOver = await clock.runUntil(run);
  const ending = isOver ? consumer.ending : { how: 'hung', at: clock.now() };
  const abandoned = isOver ? ((await run)?.abandoned ?? 0) : 0;
  const { mode = 'ordered', capacity = 4 } = scenario;
  const left = { timers_left: isOver ? operators.timers.size : 0, tasks_left: 0, abandoned };
  return { legs: [{ ending, events: recorder.events, mode, capacity, ...left }] };
}

/** What the operator is given, in its own words. */
function config({ mode, capacity = 4, timeout, retry, batch }) {
  const given = { mode, capacity };
  if (timeout !== undefined && timeout !== null) given.timeout = Number(timeout);
  if (retry) given.retry = retryOf(retry);
  if (batch) given.batch = batchOf(batch);
  return given;
}

const breaks = () => {
  throw Object.assign(new Error('planned'), { name: 'LookupError' });
};

const ON_ERROR = {
  any: (error) => error?.name !== 'AbortError',
  some: (error) => error?.name === 'ValueError',
  asked: (error) => error?.name === 'ValueError',
  told: (error) => error?.name === 'ValueError' && new RetryAfter(120),
  'at-once': (error) => error?.name !== 'AbortError' && new RetryAfter(0),
  breaks,
};

const ON_RESULT = {
  never: undefined,
  empty: (results) => results.length === 0,
  pair: (results) => results.length === 2,
  breaks,
};

function retryOf({ max_attempts = 3, initial = 40, multiplier = 2, cap = 60_000, jitter = 0, on_error = 'any', on_result = 'never' }) {
  return {
    maxAttempts: max_attempts,
    initial: Number(initial),
    multiplier,
    cap: Number(cap),
    jitter: jitter / 100,
    random: chance(),
    onError: ON_ERROR[on_error],
    onResult: ON_RESULT[on_result],
  };
}

function batchOf({ max_size: maxSize = 2, max_wait: maxWait = 40, in_flight: inFlight = 2, split = false }) {
  return { maxSize, maxWait, inFlight, split };
}

/** Chance that is the same in every run, so that a scenario can be played again. */
function chance() {
  let state = 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

async function* lines(stream) {
  let rest = [];
  for await (const chunk of stream) {
    let from = 0;
    for (let end; (end = chunk.indexOf('\n', from)) >= 0; from = end + 1) {
      yield Buffer.concat([...rest, chunk.subarray(from, end)]).toString();
      rest = [];
    }
    rest.push(chunk.subarray(from));
  }
}

function write(said) {
  process.stdout.write(`${stringify(said)}\n`);
}
