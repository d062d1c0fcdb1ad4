import { answer, perform } from './call.js';

/** A function of the values of a batch, each of which follows its own plan. */
export function batched(recorder, { answers = 'list' }) {
  return (values, signal) => {
    const calls = recorder.batchStarted(values);
    if (calls.length === 0) return [];
    const numbers = calls.map(([number]) => number);
    const time = together(calls.map(([, step]) => step));
    return perform(recorder, numbers, time, signal, () => {
      const planned = time.does === 'never' ? replies : (step) => step;
      const ends = calls.map(([number, step]) => ({ number, step: planned(step) }));
      const whole = ends.find(({ step }) => step.whole && step.does && step.does !== 'reply');
      if (whole) return endsAll(recorder, numbers, whole.step);
      return answers === 'list' ? list(recorder, ends) : mapping(recorder, values, ends);
    });
  };
}

/** The time that a batch takes, and what becomes of it when it is aborted. */
function together(steps) {
  const of = (name) => steps.map((step) => step[name] ?? 0);
  return {
    does: steps.find(({ does }) => does === 'never')?.does,
    after: Math.max(...of('after')),
    blocks: of('blocks').reduce((sum, ms) => sum + ms),
    clean_up: Math.max(...of('clean_up')),
    swallow: of('swallow').some(Boolean),
    thread: of('thread').some(Boolean),
  };
}

/** What was never to answer has swallowed its cancellation. */
const replies = ({ results }) => ({ results });

/** What a call comes to whose answer is left out. */
const LEFT_OUT = { does: 'misreturn', error: 'none' };

function endsAll(recorder, numbers, step) {
  const [given] = numbers.map((number) => answer(recorder, number, step));
  if (step.does === 'raise') throw given;
  return given;
}

/** A list that is too short if an answer is left out: then nobody has one. */
function list(recorder, ends) {
  const isShort = ends.some(({ step }) => step.whole);
  const given = ends.map(({ number, step }) => answer(recorder, number, isShort ? LEFT_OUT : step));
  return isShort ? ends.filter(({ step }) => !step.whole).map(({ step }) => step.results ?? []) : given;
}

function mapping(recorder, values, ends) {
  const given = ends.map(({ number, step }) => answer(recorder, number, step.whole ? LEFT_OUT : step));
  const answers = values.map((value, place) => [value, given[place]]);
  return new Map(answers.filter((_, place) => !ends[place].step.whole));
}
