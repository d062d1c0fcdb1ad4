/**
 * RxJS: `mergeMap`, as many at a time as there may be, and `concatMap`, one at a time.
 *
 *     asyncwait verify --exec 'node rxjs.js mergeMap'
 */
import { Observable, concatMap, defer, from, mergeMap, of, timeout } from 'rxjs';
import { hold, pushed } from './adapting.js';

/** A call as `fromFetch` has it: to unsubscribe is to abort. */
const called = (call, record) =>
  new Observable((subscriber) => {
    const controller = new AbortController();
    from(call(record, controller.signal)).subscribe(subscriber);
    return () => controller.abort();
  });

const operators = { mergeMap, concatMap: (project) => concatMap(project) };
const operator = operators[process.argv[2]];

hold(
  (records, call, { capacity, timeout: each, late }) => {
    const limited = (record) => {
      const one = called(call, record);
      return each === undefined ? one : one.pipe(timeout({ each, with: () => defer(() => of(late(record))) }));
    };
    return pushed((observer) => {
      const subscription = from(records).pipe(operator(limited, capacity)).subscribe(observer);
      return () => subscription.unsubscribe();
    });
  },
  operator === mergeMap ? 'unordered' : 'ordered',
  'timeouts',
);
