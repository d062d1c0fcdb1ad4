import { planned } from './errors.js';

/** Gives each element in the instant in which it is due and somebody asks, and notes both. */
export class Source {
  #scenario;
  #recorder;
  #given = 0;
  #hasFailed = false;
  #pending; // who asks, and the timer of what is asked for
  #closed;

  constructor(scenario, recorder) {
    this.#scenario = scenario;
    this.#recorder = recorder;
  }

  [Symbol.asyncIterator]() {
    return this;
  }

  next() {
    const { clock } = this.#recorder;
    this.#recorder.add('asked');
    const timed = this.#scenario.inputs?.[this.#given];
    const due = timed ? timed.at : (this.#scenario.source_ends_at ?? 0);
    return new Promise((resolve, reject) => {
      const give = () => {
        this.#pending = undefined;
        if (timed) this.#give(timed, resolve);
        else this.#end(resolve, reject);
      };
      if (due <= clock.now()) give();
      else this.#pending = { resolve, timer: clock.setTimeout(give, due - clock.now()) };
    });
  }

  #give(timed, resolve) {
    this.#recorder.block(timed.blocks);
    this.#recorder.add('taken', { index: this.#given });
    this.#given += 1;
    resolve({ done: false, value: timed.element });
  }

  #end(resolve, reject) {
    const { source_error: kind } = this.#scenario;
    this.#recorder.add('source-ended', { raised: Boolean(kind) });
    if (kind && !this.#hasFailed) {
      this.#hasFailed = true;
      reject(this.#recorder.passes(planned(kind === 'contract' ? 'CallFailed' : 'PlannedSourceError')));
    } else {
      resolve({ done: true, value: undefined });
    }
  }

  /** Close; whoever still waits for an element gets none. */
  async return() {
    if (this.#pending) {
      this.#recorder.clock.clearTimeout(this.#pending.timer);
      this.#pending.resolve({ done: true, value: undefined });
    }
    const { close_takes: takes, close_error: fails } = this.#scenario;
    const isFirst = !this.#closed;
    this.#closed = true;
    if (takes && isFirst) await this.#recorder.clock.sleep(takes);
    this.#recorder.add('source-closed');
    if (fails && isFirst) throw this.#recorder.passes(planned('PlannedSourceError'));
    return { done: true, value: undefined };
  }
}
