/**
 * Plays the vectors, without the suite: what an operator comes to is compared with what is written.
 *
 *     node vectors.js FILES...
 */
import { readFileSync } from 'node:fs';
import { openOperator } from './asyncwait.js';
import { DECLARATION } from './declaration.js';
import { parse, stringify } from './harness/json.js';
import { play } from './harness/serve.js';

const FENCES = ['watermark', 'status'];

/** What is no profile, and what this harness can do all the same. */
const ABILITIES = ['virtual-time', 'timed-input', 'cancel-calls', 'retry-after', 'jitter'];

/** What has come out, cut at fences; latency markers are left out. */
function segments(events) {
  const found = [[]];
  for (const { element } of events.filter(({ type }) => type === 'took')) {
    if (FENCES.includes(element.type)) found.push([element], []);
    else if (element.type === 'record') found.at(-1).push(element);
  }
  return found.filter((segment) => segment.length > 0);
}

const sorted = (element) => Object.fromEntries(Object.entries(element).sort());

/** The same text for the same outcome: the keys of objects have no order, nor perhaps the records. */
function written({ how, order, output, error = '', record = null }) {
  const lines = output?.map((segment) => segment.map((element) => stringify(sorted(element))));
  if (order === 'any') for (const segment of lines ?? []) segment.sort();
  return stringify({ how, error, record: record && sorted(record), output: lines ?? null });
}

function seen(expected, { ending, events }) {
  const output = expected.output ? segments(events) : null;
  return written({ ...ending, order: expected.order, output });
}

let played = 0;
for (const { vectors } of process.argv.slice(2).map((file) => parse(readFileSync(file, 'utf8')))) {
  for (const { name, needs, rules, scenario, outcome } of vectors) {
    const isOurs = needs.every((need) => [...DECLARATION.profiles, ...ABILITIES].includes(need));
    if (!outcome || !isOurs) continue;
    const [leg] = (await play(openOperator, scenario)).legs;
    played += 1;
    if (seen(outcome, leg) === written(outcome)) continue;
    console.log(`${name} (${rules}):\n  expected ${written(outcome)}\n  got      ${seen(outcome, leg)}`);
    process.exitCode = 1;
  }
}
console.log(`${played} vectors played`);
