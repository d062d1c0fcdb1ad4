import { planned } from './errors.js';

const MISRETURNS = { none: null, text: 'text', bytes: Buffer.from('bytes'), number: 7 };

/** Take the time of a step, which is that of several calls in a batch, and answer. */
export async function perform(recorder, numbers, step, signal, answers) {
  const each = (type, fields) => numbers.forEach((number) => recorder.add(type, { call: number, ...fields }));
  try {
    if (!isAtOnce(step)) await until(recorder.clock, step, signal);
    recorder.block(step.blocks);
  } catch (aborted) {
    each('call-cancelled');
    if (step.clean_up) await recorder.clock.sleep(step.clean_up);
    if (!step.swallow) {
      each('call-ended', { how: 'cancelled' });
      throw aborted;
    }
  }
  return answers();
}

/** Note how a call ends; return what it gives, or the error that it raises. */
export function answer(recorder, number, step) {
  const ended = (how, results) => recorder.add('call-ended', { call: number, how, results });
  switch (step.does ?? 'reply') {
    case 'raise':
      ended('raised');
      return planned(step.error, { retryAfter: step.retry_after });
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

/** What is given in place of a collection of results. */
export function misreturned(what) {
  return what === 'broken' ? broken() : MISRETURNS[what];
}

function* broken() {
  yield 'x';
  throw planned('');
}
