/**
 * p-queue: calls are added as its documentation says for input that should not pile up.
 *
 *     asyncwait verify --exec 'node p_queue.js'
 */
import PQueue, { TimeoutError } from 'p-queue';
import { hold, pushed } from './adapting.js';

async function feed(records, call, { capacity, timeout, late }, observer, signal) {
  const queue = new PQueue({ concurrency: capacity, timeout });
  const failed = (record) => (error) => {
    if (error instanceof TimeoutError) return late(record);
    throw error;
  };
  for await (const record of records) {
    await queue.onSizeLessThan(capacity);
    if (signal.aborted) return;
    const task = queue.add((options) => call(record, options.signal), { signal });
    task.catch(failed(record)).then(observer.next, observer.error);
  }
  await queue.onIdle();
  observer.complete();
}

hold(
  (records, call, options) =>
    pushed((observer) => {
      const controller = new AbortController();
      feed(records, call, options, observer, controller.signal).catch(observer.error);
      return () => controller.abort();
    }),
  'unordered',
  'timeouts',
);
