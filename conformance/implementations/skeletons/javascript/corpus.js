/**
 * Tests values.js and predicates.js with a corpus of values and predicates, without any file:
 *
 *     node driver.js --corpus values.json
 */
import { readFileSync } from 'node:fs';

import { truthOf } from './predicates.js';
import { readValue, writeValue } from './values.js';

const TRUTHS = { true: true, false: false, unknown: null };

/**
 * Prints what went wrong, and how much.
 *
 * @param {string} path the corpus
 * @returns {boolean} whether all went well
 */
export function passesCorpus(path) {
  const { values, predicates } = JSON.parse(readFileSync(path, 'utf8'));
  const wrong = [...values.filter(isChanged), ...predicates.filter(isMisjudged)];
  for (const entry of wrong) process.stdout.write(`${JSON.stringify(entry)}\n`);
  const count = values.length + predicates.length;
  process.stdout.write(`${count - wrong.length} passed, ${wrong.length} failed\n`);
  return wrong.length === 0;
}

function isChanged(written) {
  return normalized(written) !== normalized(writeValue(readValue(written)));
}

/** Floats may be written in more than one way. */
function normalized(written) {
  const floatsAsRead = (name, part) => (name === 'float' ? String(writeValue(readValue({ float: part })).float) : part);
  return JSON.stringify(written, floatsAsRead);
}

/** An entry without a declaration holds for all declarations. */
function isMisjudged({ value, predicate, truth, nan, zeros }) {
  const declarations = (nan ? [nan] : ['unordered', 'greatest']).flatMap(one =>
    (zeros ? [zeros] : ['equal', 'apart']).map(other => ({ nan: one, zeros: other })));
  const row = readValue(value);
  return declarations.some(declared => truthOf(predicate, () => row, declared) !== TRUTHS[truth]);
}
