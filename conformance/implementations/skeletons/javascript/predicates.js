/**
 * Predicates: the trees of the protocol, and their truth on a row, for libraries that cannot filter by themselves.
 *
 * There are three values of truth, as in SQL: `true`, `false`, and `null` for unknown, which a comparison with null is.
 * Only true keeps a row.
 */
import { DateValue, Decimal, List, Pairs, Struct, Time, Timestamp, readValue } from './values.js';

const COMPARISONS = {
  '=': order => order === 0,
  '!=': order => order !== 0,
  '<': order => order < 0,
  '<=': order => order <= 0,
  '>': order => order > 0,
  '>=': order => order >= 0,
};

/** What a driver that filters with this module declares in `hello`. */
export const DECLARED = { nan: 'unordered', zeros: 'equal' };

/**
 * The truth of a predicate on a row.
 *
 * @param {any[]} predicate `[operator, ...]` as the request has it
 * @param {(column: string) => any} valueOf the value of a column in this row, as in values.js
 * @param {{nan: 'unordered' | 'greatest', zeros: 'equal' | 'apart'}} declared how floats are compared
 * @returns {boolean | null} null: unknown
 */
export function truthOf(predicate, valueOf, declared = DECLARED) {
  const [operator, ...operands] = predicate;
  switch (operator) {
    case 'and':
      return all(operands.map(part => truthOf(part, valueOf, declared)));
    case 'or':
      return negated(all(operands.map(part => negated(truthOf(part, valueOf, declared)))));
    case 'not':
      return negated(truthOf(operands[0], valueOf, declared));
    case 'is null':
      return isNull(valueOf(operands[0]));
    case 'is not null':
      return !isNull(valueOf(operands[0]));
    case 'in':
      return isOneOf(valueOf(operands[0]), operands[1].map(readValue), declared);
    case 'not in':
      return negated(isOneOf(valueOf(operands[0]), operands[1].map(readValue), declared));
    default:
      return compared(operator, valueOf(operands[0]), readValue(operands[1]), declared);
  }
}

/** The columns that a predicate names. */
export function columnsOf([operator, ...operands]) {
  const names = ['and', 'or', 'not'].includes(operator) ? operands.flatMap(columnsOf) : [operands[0]];
  return [...new Set(names)];
}

function isNull(value) {
  return value === null || value === undefined;
}

function negated(truth) {
  return truth === null ? null : !truth;
}

function all(truths) {
  return truths.includes(false) ? false : truths.includes(null) ? null : true;
}

function isOneOf(value, items, declared) {
  return negated(all(items.map(item => negated(compared('=', value, item, declared)))));
}

function compared(operator, left, right, declared) {
  if (!(operator in COMPARISONS)) throw new Error(`${operator} is not an operator`);
  if (isNull(left) || isNull(right)) return null;
  const order = orderOf(left, right, declared);
  return Number.isNaN(order) ? operator === '!=' : COMPARISONS[operator](order);
}

/**
 * Negative, zero or positive as `left` is less than, equal to or greater than `right`; NaN if they have no order.
 */
export function orderOf(left, right, declared = DECLARED) {
  const kind = kindOf(left);
  if (kind !== kindOf(right)) throw new Error(`${left} cannot be compared with ${right}`);
  switch (kind) {
    case 'number':
      return orderOfNumbers(left, right, declared);
    case 'text':
      return orderOfTexts(left, right);
    case 'bytes':
      return Buffer.compare(left, right);
    case 'decimal':
      return orderOfDecimals(left, right);
    case 'boolean':
      return Number(left) - Number(right);
    default:
      return sign(left.count, right.count);
  }
}

const CLASSES = [
  [Uint8Array, 'bytes'],
  [Decimal, 'decimal'],
  [DateValue, 'date'],
  [Time, 'time'],
  [Timestamp, 'timestamp'],
];

function kindOf(value) {
  if (typeof value === 'string') return 'text';
  if (typeof value === 'boolean') return 'boolean';
  if (typeof value === 'number' || typeof value === 'bigint') return 'number';
  const found = CLASSES.find(([type]) => value instanceof type);
  if (found) return found[1];
  const nested = [List, Struct, Pairs].some(type => value instanceof type);
  throw new Error(nested ? 'nested values have no order' : `${value} is not a value`);
}

/** JavaScript compares `bigint` and `number` exactly, whatever their size. */
function sign(left, right) {
  return left < right ? -1 : left > right ? 1 : 0;
}

function orderOfNumbers(left, right, { nan, zeros }) {
  const nans = [Number.isNaN(left), Number.isNaN(right)];
  if (nans.includes(true)) return nan === 'greatest' ? Number(nans[0]) - Number(nans[1]) : NaN;
  if (zeros === 'apart' && left == 0 && right == 0) return Number(Object.is(right, -0)) - Number(Object.is(left, -0));
  return sign(left, right);
}

function orderOfDecimals(left, right) {
  const scale = Math.max(left.scale, right.scale);
  const [one, other] = [left, right].map(decimal => decimal.unscaled * 10n ** BigInt(scale - decimal.scale));
  return sign(one, other);
}

/** By code point, which is the order of the UTF-8 bytes; `<` of JavaScript compares UTF-16 units. */
function orderOfTexts(left, right) {
  return Buffer.compare(Buffer.from(left), Buffer.from(right));
}
