import { CallFailed, RetryAfter } from '../errors.js';

/** The errors of plans. JavaScript knows few of them; any of its own will do under those names. */
const kinds = Object.fromEntries(
  ['Planned', 'PlannedSourceError', 'ValueError', 'StopIteration', 'StopAsyncIteration', 'Unpicklable', 'LookupError'].map(
    (name) => [name, class extends Error {}],
  ),
);

/** A fresh error of the kind that a plan names. */
export function planned(name, { retryAfter = 0 } = {}) {
  if (name === 'RetryAfter') return new RetryAfter(retryAfter);
  if (name === 'CancelledError') return Object.assign(new DOMException('planned', 'AbortError'), { planned: name });
  if (name === 'CallFailed') return new CallFailed({ type: 'record', value: 'of an operator before' }, 'planned');
  const error = new (kinds[name || 'Planned'])('planned');
  error.name = name || 'Planned';
  return error;
}

/** The name by which a trace tells of an error. */
export function nameOf(error) {
  if (error === undefined || error === null) return '';
  return error.planned ?? error.name ?? String(error);
}
