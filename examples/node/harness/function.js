import { batched } from './batches.js';
import { answer, misreturned, perform } from './call.js';
import { planned } from './errors.js';

/** The function that the operator is given: does what its plan says, and notes it. */
export function plannedFunction(scenario, recorder) {
  const fn = { call: scenario.batch ? batched(recorder, scenario.batch) : single(recorder) };
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

function single(recorder) {
  return (value, signal) => {
    const [number, step] = recorder.callStarted(value);
    return perform(recorder, [number], step, signal, () => {
      const given = answer(recorder, number, step);
      if (step.does === 'raise') throw given;
      return given;
    });
  };
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
