/**
 * The operator of this folder, held to the suite:
 *
 *     asyncwait verify --exec 'node main.js'
 */
import { openOperator } from './asyncwait.js';
import { DECLARATION } from './declaration.js';
import { serve } from './harness/serve.js';

await serve(openOperator, DECLARATION);
