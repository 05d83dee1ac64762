/**
 * How requests come in and answers go out: one request in a file, or one a line with `--serve`.
 *
 * A driver hands over a table of operations, functions from a request to its answer (or to a list of answers, or to
 * anything that yields them one by one), and never touches a file descriptor itself:
 *
 *     await runDriver({ hello: () => ({ name: 'my-library', ... }), read: async request => ({ rows: [...] }) });
 *
 * What the library throws is a refusal, and only that: calls of the library are wrapped in `asked`. Every other error is a
 * mistake of the driver, and ends the process.
 */
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';

import { passesCorpus } from './corpus.js';

const EXIT_NOT_SUPPORTED = 3;

/**
 * The version of a library that the `package.json` beside a module pins.
 *
 * @param {string} library
 * @param {string} moduleUrl `import.meta.url`
 */
export function pinnedVersion(library, moduleUrl) {
  return JSON.parse(readFileSync(new URL('package.json', moduleUrl), 'utf8')).dependencies[library];
}

/** The library refuses: what it threw. */
export class Refusal extends Error {
  constructor(thrown) {
    super(thrown instanceof Error ? thrown.message : String(thrown), { cause: thrown });
    this.raised = thrown?.constructor?.name ?? typeof thrown;
  }
}

/** The library lacks something that it never promised: a type, a codec, a wish. */
export class Unsupported extends Error {}

/**
 * The result of a call of the library. What it throws becomes a `Refusal`, or `Unsupported` where it says so itself.
 *
 * @param {() => any} call
 * @param {(message: string) => boolean} lacks whether a message of the library tells what it lacks
 */
export async function asked(call, lacks = () => false) {
  try {
    return await call();
  } catch (error) {
    if (error instanceof Error && lacks(error.message)) throw new Unsupported(error.message, { cause: error });
    throw new Refusal(error);
  }
}

/** The answer that an error stands for; errors of the driver itself are thrown on. */
export function answerOf(error) {
  if (error instanceof Unsupported) return { answer: 'unsupported', reason: error.message };
  if (error instanceof Refusal) return { answer: 'reject', message: error.message, raised: error.raised };
  throw error;
}

/**
 * Answers the requests of this process, which is started as `driver --serve` or as `driver REQUEST ANSWER`. With
 * `driver --corpus FILE` it tests its own reading of values and predicates instead.
 */
export async function runDriver(operations) {
  const [first, second] = process.argv.slice(2);
  if (first === '--serve') {
    await serve(operations);
  } else if (first === '--corpus' && second) {
    process.exitCode = passesCorpus(second) ? 0 : 1;
  } else if (first && second) {
    await answerFile(operations, first, second);
  } else {
    process.stderr.write('usage: driver --serve, driver REQUEST ANSWER, or driver --corpus FILE\n');
    process.exitCode = 2;
  }
}

async function serve(operations) {
  for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
    const request = JSON.parse(line);
    const operation = operations[request.op];
    if (operation) {
      await writeAnswers(1, operation, request);
    } else {
      writeLine(1, { answer: 'unsupported', reason: `operation ${request.op}` });
    }
  }
}

async function answerFile(operations, requestPath, answerPath) {
  const request = JSON.parse(readFileSync(requestPath, 'utf8'));
  const operation = operations[request.op];
  if (!operation) {
    process.exitCode = EXIT_NOT_SUPPORTED;
    return;
  }
  const output = openSync(answerPath, 'w');
  await writeAnswers(output, operation, request);
  closeSync(output);
}

async function writeAnswers(output, operation, request) {
  try {
    const answers = await operation(request);
    for await (const answer of isIterable(answers) ? answers : [answers]) {
      writeLine(output, { answer: 'accept', ...answer });
    }
  } catch (error) {
    writeLine(output, answerOf(error));
  }
}

function isIterable(value) {
  return Symbol.iterator in value || Symbol.asyncIterator in value;
}

/** Writes one line at once. A pipe that is full says EAGAIN: then the rest is tried again. */
function writeLine(output, answer) {
  let rest = Buffer.from(`${JSON.stringify(answer)}\n`);
  while (rest.length) {
    try {
      rest = rest.subarray(writeSync(output, rest));
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
    }
  }
}
