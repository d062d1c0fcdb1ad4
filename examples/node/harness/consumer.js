import { OperatorError } from '../errors.js';
import { nameOf } from './errors.js';

/** Follows the script of a scenario, then reads to the end; knows how the leg has ended. */
export class Consumer {
  ending;
  #scenario;
  #recorder;
  #raised; // by a read
  #isWaiting = false; // or has given up
  #leaving = new AbortController();

  constructor(scenario, recorder) {
    this.#scenario = scenario;
    this.#recorder = recorder;
  }

  /** Open, read, leave. */
  async run(open) {
    const { cancel_at: at } = this.#scenario;
    if (typeof at === 'number') this.#recorder.clock.setTimeout(() => this.#end('left'), at);
    let operator;
    try {
      operator = await open(this.#leaving.signal);
      await this.#use(operator);
    } catch (error) {
      // Opening or leaving has raised; or opening was given up.
      if (error !== this.#leaving.signal.reason) this.#failed(error);
    }
    this.#recorder.add('closed');
    if (operator && this.#hasRead) this.ending.after = await this.#readAgain(operator);
    return operator;
  }

  get #hasRead() {
    return this.ending.how !== 'failed' || this.#raised !== undefined;
  }

  async #use(operator) {
    for (const step of this.#scenario.sink ?? []) {
      for (let times = step.does === 'read' ? (step.n ?? 0) : 1; times > 0; times -= 1) {
        if (!this.ending || (this.#raised && step.does === 'pause')) await this.#do(operator, step);
      }
    }
    while (!this.ending) await this.#read(operator, this.#leaving.signal);
    if (this.ending.how !== 'left') this.ending.again = await this.#readAgain(operator);
    await operator.return();
  }

  async #do(operator, { does, n = 0 }) {
    const { signal } = this.#leaving;
    switch (does) {
      case 'pause':
        return this.#recorder.clock.sleep(n, signal).catch(() => {});
      case 'block':
        // Who blocks does not come between a promise that is settled and whoever hears of it.
        await this.#recorder.clock.elsewhere();
        return this.#recorder.block(n);
      case 'leave':
        return this.#end('left');
      case 'give_up':
        return this.#giveUp(operator, n);
      default:
        return this.#read(operator, signal);
    }
  }

  async #giveUp(operator, ms) {
    const tired = new AbortController();
    const timer = this.#recorder.clock.setTimeout(() => tired.abort(), ms);
    await this.#read(operator, AbortSignal.any([tired.signal, this.#leaving.signal]));
    this.#recorder.clock.clearTimeout(timer);
    if (tired.signal.aborted && !this.ending && this.#isWaiting) this.#recorder.add('gave-up');
  }

  async #read(operator, signal) {
    this.#recorder.add('waits');
    this.#isWaiting = true;
    try {
      const { done, value } = await operator.next({ signal });
      this.#isWaiting = false;
      if (this.ending) return;
      if (done) this.ending = { how: 'finished', at: this.#recorder.clock.now() };
      else this.#recorder.add('took', { element: value });
    } catch (error) {
      if (signal.aborted || this.ending) return;
      this.#raised = { error };
      this.#failed(error);
    }
  }

  async #readAgain(operator) {
    try {
      const { done } = await operator.next();
      return done ? 'stop' : 'gave an element';
    } catch (error) {
      return error === this.#raised?.error ? 'same' : `raised ${nameOf(error)}`;
    }
  }

  #end(how) {
    if (this.ending) return;
    this.ending = { how, at: this.#recorder.clock.now() };
    this.#recorder.add('left');
    this.#leaving.abort();
  }

  #failed(error) {
    const at = this.ending?.how === 'finished' ? this.ending.at : this.#recorder.clock.now();
    const { record, attempts } = error instanceof OperatorError ? error : {};
    this.ending = { how: 'failed', at, error: nameOf(error), cause: nameOf(error?.cause), detail: String(error?.message) };
    if (record) Object.assign(this.ending, { record, attempts });
    if (this.#recorder.isPassing(error)) this.ending.unchanged = true;
    else if (!record) this.ending.traceback = String(error?.stack);
  }
}
