/**
 * What a call of the function has come to. An outcome is a function of an entry, as each record of a
 * batch has its own: it gives the results, or throws the failure that names the record.
 */
import { CallFailed, InvalidResult } from './errors.js';

/** The call has given this: a collection of results, if all is well. */
export const gave = (results) => (entry) => collect(entry, results);

/** The call was rejected. */
export const raised = (cause) => ({ record, attempts }) => {
  throw new CallFailed(record, `the call failed: ${cause}`, { cause, attempts });
};

const owes = (expected) => ({ record, attempts }) => {
  throw new InvalidResult(record, `expected ${expected}`, { attempts });
};

/**
 * The outcomes of a batch, one for each of its values; throws what reading the answers does.
 *
 * @param {any[]} values those that the function was given
 * @param {unknown} given answers in the order of the values, or a Map from them; an answer is a
 *   collection of results, or an Error
 */
export function outcomesOf(values, given) {
  if (given instanceof Map) return byValue(values, given);
  if (!isCollection(given)) return values.map(() => owes(`answers or a Map of them, got ${given}`));
  const answers = [...given];
  if (answers.length === values.length) return answers.map(answered);
  return values.map(() => owes(`${values.length} answers, got ${answers.length}`));
}

function byValue(values, given) {
  const asked = new Set(values);
  const foreign = [...given.keys()].filter((value) => !asked.has(value));
  if (foreign.length > 0) return values.map(() => owes(`answers for its values, got one for ${foreign[0]}`));
  const answers = new Map([...given].map(([value, answer]) => [value, kept(answer)]));
  const missing = owes('an answer for each value, got none for this one');
  return values.map((value) => (answers.has(value) ? answered(answers.get(value)) : missing));
}

const answered = (answer) => (answer instanceof Error ? raised(answer) : gave(answer));

/** An answer that can be read for each of several equal values, which a generator can't. */
function kept(answer) {
  try {
    return isCollection(answer) ? [...answer] : answer;
  } catch (error) {
    return error;
  }
}

/** The collection that a call or a handler has given, as an array. */
export function collect({ record, attempts }, given) {
  if (!isCollection(given)) {
    throw new InvalidResult(record, `expected a collection of results, got ${given}`, { attempts });
  }
  try {
    return [...given];
  } catch (cause) {
    throw new CallFailed(record, `the results broke: ${cause}`, { cause, attempts });
  }
}

function isCollection(given) {
  const isIterable = typeof given?.[Symbol.iterator] === 'function';
  return isIterable && typeof given !== 'string' && !ArrayBuffer.isView(given);
}
