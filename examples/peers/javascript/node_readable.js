/**
 * Node's `Readable.map`, which is experimental there.
 *
 *     asyncwait verify --exec 'node node_readable.js'
 */
import { Readable } from 'node:stream';
import { hold } from './adapting.js';

hold(
  (records, call, { capacity }) =>
    Readable.from(records).map((record, { signal }) => call(record, signal), { concurrency: capacity })[
      Symbol.asyncIterator
    ](),
  'ordered',
);
