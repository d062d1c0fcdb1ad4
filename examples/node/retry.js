import { CallFailed, InvalidResult, RetryAfter } from './errors.js';

/**
 * When and how often a call is repeated; times in ms. A back-off that would not end before the deadline
 * of its record does not begin: the outcome of the last call stands.
 *
 * @typedef {object} Retry
 * @property {number} maxAttempts calls of one record at most, the first included
 * @property {number} initial back-off before the second call
 * @property {number} multiplier each further one is so many times as long
 * @property {number} cap no back-off is longer
 * @property {number} [jitter] the share of each back-off that chance may leave out
 * @property {() => number} [random] chance, from 0 to 1
 * @property {(error: Error) => boolean | RetryAfter} onError whether an error is followed by another attempt, or when
 * @property {(results: any[]) => boolean} [onResult] whether results are
 */

/** The back-off after a call of `entry` has failed; undefined if that stands. */
export function afterFailure(retry, entry, failure) {
  if (!retry || entry.attempts >= retry.maxAttempts || failure instanceof InvalidResult) return undefined;
  const { cause } = failure;
  const answer = cause instanceof RetryAfter ? cause : ask(entry, retry.onError, cause);
  if (answer instanceof RetryAfter) return answer.ms;
  return answer ? backOff(retry, entry.attempts) : undefined;
}

/** The same after a call has given results. */
export function afterResults(retry, entry, results) {
  if (!retry?.onResult || entry.attempts >= retry.maxAttempts) return undefined;
  return ask(entry, retry.onResult, results) ? backOff(retry, entry.attempts) : undefined;
}

function ask({ record, attempts }, predicate, outcome) {
  try {
    return predicate(outcome);
  } catch (cause) {
    throw new CallFailed(record, `a predicate raised ${cause}`, { cause, attempts });
  }
}

function backOff({ initial, multiplier, cap, jitter = 0, random = Math.random }, attempts) {
  const whole = Math.min(initial * multiplier ** (attempts - 1), cap);
  return whole * (1 - jitter * random());
}
