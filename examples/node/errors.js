/** What an operator fails with: an error that names its record. */
export class OperatorError extends Error {
  /**
   * @param {object} record the input record that failed
   * @param {string} message what was wrong
   * @param {{cause?: unknown, attempts?: number}} [told] what the function raised, after how many calls
   */
  constructor(record, message, { cause, attempts = 0 } = {}) {
    super(message, { cause });
    this.name = new.target.name;
    this.record = record;
    this.attempts = attempts;
  }
}

/** The call was rejected, or its results broke while they were read. */
export class CallFailed extends OperatorError {}

/**
 * The deadline has passed, and nothing stands in for the call. The cause is what the timeout handler has
 * raised, or else the last attempt that has failed.
 */
export class CallTimedOut extends OperatorError {}

/** The call or the handler gave what is no collection of results. */
export class InvalidResult extends OperatorError {}

/** More calls run on, although they were aborted, than there may be calls at all. */
export class TooManyAbandonedCalls extends OperatorError {}

/** Rejected with by a call that is to be repeated: when the next attempt may begin. */
export class RetryAfter extends Error {
  /** @param {number} ms from now on */
  constructor(ms) {
    super(`come again in ${ms} ms`);
    this.name = 'RetryAfter';
    this.ms = ms;
  }
}
