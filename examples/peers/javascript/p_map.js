/**
 * p-map: `pMapIterable`, which is iterated, and `pMap`, which promises all results at once.
 *
 *     asyncwait verify --exec 'node p_map.js pMapIterable'
 */
import pMap, { pMapIterable } from 'p-map';
import { hold } from './adapting.js';

async function* mapped(...given) {
  yield* await pMap(...given);
}

const operator = { pMap: mapped, pMapIterable }[process.argv[2]];

hold((records, call, { capacity }) => operator(records, (record) => call(record), { concurrency: capacity }), 'ordered');
