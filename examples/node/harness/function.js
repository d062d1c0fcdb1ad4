import { planned } from './errors.js';

const MISRETURNS = { none: null, text: 'text', bytes: Buffer.from('bytes'), number: 7 };

/** The function that the operator is given: does what its plan says, and notes it. */
export function plannedFunction(scenario, recorder) {
  const fn = { call: (value, signal) => call(recorder, value, signal) };
  if (scenario.handled) {
    fn.timeout = (value) => {
      recorder.add('handler', { value });
      return handled(recorder, recorder.plan(value)?.handler ?? { does: 'none' });
    };
  }
  if ((scenario.hooks ?? 'none') !== 'none') {
    fn.open = (signal) => hook(scenario, recorder, 'open', signal);
    fn.close = () => hook(scenario, recorder, 'close');
  }
  return fn;
}

async function call(recorder, value, signal) {
  const [number, step] = recorder.callStarted(value);
  const ended = (how, results) => recorder.add('call-ended', { call: number, how, results });
  try {
    if (!isAtOnce(step)) await until(recorder.clock, step, signal);
    recorder.block(step.blocks);
  } catch (aborted) {
    recorder.add('call-cancelled', { call: number });
    if (step.clean_up) await recorder.clock.sleep(step.clean_up);
    if (!step.swallow) {
      ended('cancelled');
      throw aborted;
    }
  }
  switch (step.does ?? 'reply') {
    case 'raise':
      ended('raised');
      throw planned(step.error, { retryAfter: step.retry_after });
    case 'misreturn':
      ended('misreturned');
      return misreturned(step.error);
    default:
      ended('returned', step.results ?? []);
      return [...(step.results ?? [])];
  }
}

const isAtOnce = (step) => step.does !== 'never' && !step.after && !step.thread;

async function until(clock, step, signal) {
  if (step.does === 'never') {
    await new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
  }
  if (step.after) await clock.sleep(step.after, signal);
  if (step.thread) await clock.elsewhere();
}

function misreturned(what) {
  return what === 'broken' ? broken() : MISRETURNS[what];
}

function* broken() {
  yield 'x';
  throw planned('');
}

function handled(recorder, handler) {
  recorder.block(handler.blocks);
  switch (handler.does ?? 'reply') {
    case 'reply':
      return [...(handler.results ?? [])];
    case 'raise':
      throw planned(handler.error);
    case 'misreturn':
      return misreturned(handler.error);
    default:
      return null;
  }
}

async function hook(scenario, recorder, name, signal) {
  if (scenario.hooks === 'coroutine') await recorder.clock.sleep(scenario.hook_takes ?? 0, signal);
  recorder.add('hook', { hook: name });
  if (scenario.hook_error === name) throw recorder.passes(planned(''));
}
