/**
 * Effect: `Stream.mapEffect` with a concurrency, in order or not.
 *
 *     asyncwait verify --exec 'node effect.js ordered'
 */
import { Effect, Stream } from 'effect';
import { hold } from './adapting.js';

const unordered = process.argv[2] === 'unordered';
const same = (error) => error;

hold(
  (records, call, { capacity: concurrency, timeout, late }) => {
    const limited = (record) => {
      const one = Effect.tryPromise({ try: (signal) => call(record, signal), catch: same });
      const instead = { duration: timeout, orElse: () => Effect.try({ try: () => late(record), catch: same }) };
      return timeout === undefined ? one : Effect.timeoutOrElse(one, instead);
    };
    const results = Stream.fromAsyncIterable(records, same).pipe(Stream.mapEffect(limited, { concurrency, unordered }));
    return Stream.toAsyncIterable(results);
  },
  unordered ? 'unordered' : 'ordered',
  'timeouts',
);
