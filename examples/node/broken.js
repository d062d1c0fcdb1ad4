/**
 * The same operator with one small slip, which the suite finds by its name, WM-2: what is finished
 * behind a watermark comes out before it.
 *
 *     asyncwait verify --exec 'node broken.js'
 */
import { openOperator } from './asyncwait.js';
import { DECLARATION } from './declaration.js';
import { serve } from './harness/serve.js';
import { Unordered } from './queues.js';

class Impatient extends Unordered {
  shift() {
    const early = this.segments.find(({ finished }) => finished.length > 0);
    if (early === undefined) return super.shift();
    early.size -= 1;
    return early.finished.shift();
  }
}

const queues = { unordered: Impatient };

await serve((source, fn, options) => openOperator(source, fn, { ...options, queues }), DECLARATION);
