/**
 * streaming-iterables: `parallelMap`, in order, and `transform`, as results are there.
 *
 *     asyncwait verify --exec 'node streaming_iterables.js parallelMap'
 */
import { parallelMap, transform } from 'streaming-iterables';
import { hold } from './adapting.js';

const operators = { parallelMap: [parallelMap, 'ordered'], transform: [transform, 'unordered'] };
const [operator, order] = operators[process.argv[2]];

hold((records, call, { capacity }) => operator(capacity, (record) => call(record), records), order);
