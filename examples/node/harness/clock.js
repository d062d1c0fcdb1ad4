/** A clock that jumps to the next moment at which something is due, as soon as everybody waits. */

const turn = () => new Promise((resolve) => setImmediate(resolve));

export class Clock {
  #now = 0;
  #timers = []; // the next one stands last
  #set = 0;
  #elsewhere = 0;
  #turns;

  /** @param {number} [turns] of the loop in which all that can be done in an instant is done */
  constructor(turns = 1) {
    this.#turns = turns;
  }

  /** Milliseconds since the leg began; rounded, so that equal instants are equal. */
  now = () => Math.round(this.#now * 1000) / 1000;

  /** Nobody does anything for so long. */
  block(ms) {
    this.#now += ms;
  }

  setTimeout = (action, ms) => {
    const timer = { at: this.#now + ms, order: (this.#set += 1), action };
    const isLater = (other) => other.at > timer.at;
    let place = this.#timers.length;
    while (place > 0 && !isLater(this.#timers[place - 1])) place -= 1;
    this.#timers.splice(place, 0, timer);
    return timer;
  };

  clearTimeout = (timer) => {
    const place = this.#timers.indexOf(timer);
    if (place >= 0) this.#timers.splice(place, 1);
  };

  /** Wait for so long; rejects when `signal` is aborted. */
  sleep(ms, signal) {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const giveUp = () => {
        this.clearTimeout(timer);
        reject(signal.reason);
      };
      const timer = this.setTimeout(() => {
        signal?.removeEventListener('abort', giveUp);
        resolve();
      }, ms);
      signal?.addEventListener('abort', giveUp, { once: true });
    });
  }

  /** Go on in another turn of the loop, in the same instant, as after an answer from a thread. */
  async elsewhere() {
    this.#elsewhere += 1;
    await turn();
    this.#elsewhere -= 1;
  }

  /** Have time pass until `promise` is settled; false if nothing is due any more before. */
  async runUntil(promise) {
    let isSettled = false;
    const settled = () => {
      isSettled = true;
    };
    promise.then(settled, settled);
    for (;;) {
      for (let n = 0; n < this.#turns && !isSettled; n += 1) await turn();
      if (isSettled) return true; // else all that can be done in this instant is done
      if (this.#elsewhere > 0) continue;
      const timer = this.#timers.pop();
      if (!timer) return false;
      this.#now = Math.max(this.#now, timer.at);
      timer.action();
    }
  }
}

/** The clock as an operator has it: what it leaves behind is counted. */
export function watched(clock) {
  const timers = new Set();
  return {
    timers,
    now: clock.now,
    setTimeout: (action, ms) => {
      const timer = clock.setTimeout(() => {
        timers.delete(timer);
        action();
      }, ms);
      timers.add(timer);
      return timer;
    },
    clearTimeout: (timer) => {
      timers.delete(timer);
      clock.clearTimeout(timer);
    },
  };
}
