/**
 * Records that gather to share a call, and when a batch of them goes: as soon as it is full, when the
 * first of them has waited for long enough, or at once where nothing more can join.
 *
 * @typedef {object} Batch
 * @property {number} maxSize values in one call at most
 * @property {number} maxWait ms for which a record waits for others at most
 * @property {number} inFlight calls that run at a time at most
 * @property {boolean} [split] whether records whose call has thrown are called again with half as many,
 *   and for the last time alone; so one that no call survives harms no other
 */
export class Gathering {
  #batch;
  #maxAttempts;
  #operator;

  #waiting = new Map(); // when each entry has to go; the first of them first
  #mayReturn = new Set(); // entries that went, are undecided, and not in their last attempt
  #running = new Set(); // calls that a record waits for
  #alarm;
  #isLooking = false;

  /**
   * @param {Batch} batch
   * @param {number} maxAttempts calls of one record at most
   * @param {object} operator `now()`, `after(ms, action)` and `cancel(timer)` are its clock,
   *   `call(entries)` calls the function, and `isLate(entry)` says whether it is too late for that;
   *   `hasEnded()` whether all of its input is in flight, and `isStuck()` whether it has no room, nor
   *   will have before another record is decided
   */
  constructor(batch, maxAttempts, operator) {
    this.#batch = batch;
    this.#maxAttempts = maxAttempts;
    this.#operator = operator;
  }

  /** A record waits for others. */
  join(entry) {
    this.#mayReturn.delete(entry);
    this.#waiting.set(entry, this.#operator.now() + this.#batch.maxWait);
    this.lookSoon();
  }

  /** A record is decided, wherever it was. */
  decided(entry) {
    this.#mayReturn.delete(entry);
    this.#waiting.delete(entry);
    this.lookSoon();
  }

  /** Nobody waits for a call any more. */
  left(call) {
    this.#running.delete(call);
    this.lookSoon();
  }

  /** A call has ended; with `split`, that says how many may share the next one of its records. */
  ended(call, hasThrown) {
    this.left(call);
    if (!this.#batch.split) return;
    const half = Math.max(1, Math.floor(call.entries.length / 2));
    for (const entry of call.entries) {
      const isLastNext = entry.attempts === this.#maxAttempts - 1;
      entry.room = isLastNext ? 1 : hasThrown ? half : this.#batch.maxSize;
    }
  }

  /** Let nothing go any more. */
  close() {
    this.#waiting.clear();
  }

  /** Look for a batch that has to go, behind all that happens in this step. */
  lookSoon() {
    if (this.#isLooking) return;
    this.#isLooking = true;
    queueMicrotask(() => {
      this.#isLooking = false;
      this.#look();
    });
  }

  #look() {
    while (this.#mayGo && this.#hasToGo) this.#go();
    this.#operator.cancel(this.#alarm);
    this.#alarm = undefined;
    if (this.#mayGo) this.#alarm = this.#operator.after(this.#due - this.#operator.now(), () => this.#ring());
  }

  /** The first has waited for long enough, though the clock may be a tick behind. */
  #ring() {
    this.#go();
    this.#look();
  }

  get #mayGo() {
    return this.#waiting.size > 0 && this.#running.size < this.#batch.inFlight;
  }

  get #hasToGo() {
    return this.#next().isFull || this.#due <= this.#operator.now() || this.#nobodyJoins;
  }

  get #due() {
    const [due] = this.#waiting.values();
    return due;
  }

  get #nobodyJoins() {
    if (this.#mayReturn.size > 0) return false;
    return this.#operator.hasEnded() || (this.#running.size === 0 && this.#operator.isStuck());
  }

  /** The batch that is next, and whether no more fit in. */
  #next() {
    const entries = [];
    let room = this.#batch.maxSize;
    for (const entry of this.#waiting.keys()) {
      room = Math.min(room, entry.room ?? room);
      if (entries.length >= room) return { entries, isFull: true };
      entries.push(entry);
    }
    return { entries, isFull: entries.length >= room };
  }

  #go() {
    const { entries } = this.#next();
    for (const entry of entries) this.#waiting.delete(entry);
    // A busy loop may have kept the timer of a deadline waiting: it will decide.
    const punctual = entries.filter((entry) => !this.#operator.isLate(entry));
    if (punctual.length === 0) return;
    this.#running.add(this.#operator.call(punctual));
    for (const entry of punctual) if (entry.attempts < this.#maxAttempts) this.#mayReturn.add(entry);
  }
}
