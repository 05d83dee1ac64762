/**
 * Predicates of the protocol as filters of hyparquet, which look like those of MongoDB.
 *
 * hyparquet has two values of truth, the protocol three. So a predicate becomes two filters, one of the rows where it is
 * true and one of those where it is false; what neither finds is unknown. Negation swaps them.
 */
import { meaningOf } from '../skeletons/javascript/hyparquet_rows.js';
import { Unsupported } from '../skeletons/javascript/protocol.js';
import { NANOSECONDS, readValue } from '../skeletons/javascript/values.js';

const OPERATORS = { '=': '$eq', '!=': '$ne', '<': '$lt', '<=': '$lte', '>': '$gt', '>=': '$gte' };

/** The filter of no rows. */
const NOTHING = { $or: [] };

/**
 * The filter of the rows that a predicate keeps.
 *
 * @param {any[]} predicate as the request has it
 * @param {Map<string, object>} nodes the schema's nodes of the top-level columns, by name
 */
export function filterOf(predicate, nodes) {
  return truthFilters(predicate, nodes).true;
}

/** The filter of the rows where the predicate is true, and that of the rows where it is false. */
function truthFilters([operator, ...operands], nodes) {
  switch (operator) {
    case 'and':
    case 'or': {
      const parts = operands.map(part => truthFilters(part, nodes));
      const truths = parts.map(part => part.true);
      const falsehoods = parts.map(part => part.false);
      return operator === 'and'
        ? { true: { $and: truths }, false: { $or: falsehoods } }
        : { true: { $or: truths }, false: { $and: falsehoods } };
    }
    case 'not':
      return swapped(truthFilters(operands[0], nodes));
    case 'is null':
      return nullTest(operands[0], nodes);
    case 'is not null':
      return swapped(nullTest(operands[0], nodes));
    case 'in':
      return membership(operands[0], operands[1], nodes);
    case 'not in':
      return swapped(membership(operands[0], operands[1], nodes));
    default:
      return comparison(operator, operands[0], operands[1], nodes);
  }
}

function swapped(filters) {
  return { true: filters.false, false: filters.true };
}

/** Nested values that are absent are `undefined` in hyparquet, others null. */
function nullTest(column, nodes) {
  const path = pathOf(column, nodes);
  if (!isNested(nodes.get(column))) return { true: { [path]: { $eq: null } }, false: { [path]: { $ne: null } } };
  const absences = [null, undefined];
  return {
    true: { $or: absences.map(absence => ({ [path]: { $eq: absence } })) },
    false: { $and: absences.map(absence => ({ [path]: { $ne: absence } })) },
  };
}

function membership(column, items, nodes) {
  const path = pathOf(column, nodes);
  const targets = items.filter(item => item !== null).map(item => targetOf(item, column, nodes));
  const found = { [path]: { $in: targets } };
  const isUnknownElsewhere = targets.length < items.length;
  return { true: found, false: isUnknownElsewhere ? NOTHING : withoutNulls(path, { $nin: targets }) };
}

function comparison(operator, column, literal, nodes) {
  const path = pathOf(column, nodes);
  if (!(operator in OPERATORS)) throw new Unsupported(`operator ${operator}`);
  if (literal === null) return { true: NOTHING, false: NOTHING };
  const condition = { [OPERATORS[operator]]: targetOf(literal, column, nodes) };
  return {
    true: operator === '!=' ? withoutNulls(path, condition) : { [path]: condition },
    false: withoutNulls(path, { $not: condition }),
  };
}

/** `$ne`, `$nin` and `$not` find nulls as well. */
function withoutNulls(path, condition) {
  return { $and: [{ [path]: { $ne: null } }, { [path]: condition }] };
}

function pathOf(column, nodes) {
  if (!nodes.has(column)) throw new Unsupported(`there is no column ${column}`);
  if (column.includes('.')) throw new Unsupported(`filter on ${column}: a dot in a name means a member of a group`);
  return column;
}

function isNested(node) {
  return node.children.length > 0 || node.element.repetition_type === 'REPEATED';
}

/** A literal as the value that hyparquet hands out for this column. */
function targetOf(literal, column, nodes) {
  const node = nodes.get(column);
  if (isNested(node)) throw new Unsupported(`comparison with ${column}, which is nested`);
  const value = readValue(literal);
  const { kind, raw, unit } = meaningOf(node.element);
  if (raw) throw new Unsupported('filter on DECIMAL without a converted type');
  switch (kind) {
    case 'decimal':
    case 'float':
      return Number(value);
    case 'date':
      return Number(value.count);
    case 'time':
      return integerTarget(inUnit(value.count, NANOSECONDS[unit]), node.element);
    case 'timestamp':
      return value.count;
    case 'integer':
      return integerTarget(value, node.element);
    case 'text':
      return isUndecoded(node.element) ? new TextEncoder().encode(value) : value;
    default:
      return value;
  }
}

/** hyparquet compares strictly: 64-bit integers are `bigint`, narrower ones `number`. */
function integerTarget(value, { type }) {
  if (type === 'INT64') return typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : value;
  return Number(value);
}

function inUnit(count, unit) {
  return count % unit ? Number(count) / Number(unit) : count / unit;
}

/** ENUM is the one annotation of text that hyparquet leaves as bytes, with `utf8: false`. */
function isUndecoded({ converted_type: converted, logical_type: logical }) {
  return converted === 'ENUM' || logical?.type === 'ENUM' || (!converted && logical?.type === 'JSON');
}
