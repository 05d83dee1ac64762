/**
 * Types of the protocol as schema elements of hyparquet-writer, and values as it takes them.
 *
 * A type is parsed into a tree `{ name, arguments }`, where an argument of a struct is `{ field, type }`.
 */
import { Unsupported } from '../skeletons/javascript/protocol.js';
import { DateValue, Decimal, Moment, NANOSECONDS, Time, Timestamp } from '../skeletons/javascript/values.js';

const OPTIONAL = 'OPTIONAL';
const REQUIRED = 'REQUIRED';

/** Leaves without arguments: what the schema says beside name and repetition. */
const LEAVES = {
  boolean: { type: 'BOOLEAN' },
  int8: { type: 'INT32', converted_type: 'INT_8' },
  int16: { type: 'INT32', converted_type: 'INT_16' },
  int32: { type: 'INT32' },
  int64: { type: 'INT64' },
  uint8: { type: 'INT32', converted_type: 'UINT_8' },
  uint16: { type: 'INT32', converted_type: 'UINT_16' },
  uint32: { type: 'INT32', converted_type: 'UINT_32' },
  uint64: { type: 'INT64', converted_type: 'UINT_64' },
  float: { type: 'FLOAT' },
  double: { type: 'DOUBLE' },
  float16: { type: 'FIXED_LEN_BYTE_ARRAY', type_length: 2, logical_type: { type: 'FLOAT16' } },
  string: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  enum: { type: 'BYTE_ARRAY', converted_type: 'ENUM' },
  // with a converted type as well, the writer would take parsed documents and write them in its own way
  json: { type: 'BYTE_ARRAY', logical_type: { type: 'JSON' } },
  bson: { type: 'BYTE_ARRAY', converted_type: 'BSON' },
  binary: { type: 'BYTE_ARRAY' },
  uuid: { type: 'FIXED_LEN_BYTE_ARRAY', type_length: 16, logical_type: { type: 'UUID' } },
  date: { type: 'INT32', converted_type: 'DATE' },
  time_millis: { type: 'INT32', converted_type: 'TIME_MILLIS' },
  time_micros: { type: 'INT64', converted_type: 'TIME_MICROS' },
  timestamp_millis: { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' },
  timestamp_micros: { type: 'INT64', converted_type: 'TIMESTAMP_MICROS' },
  timestamp_nanos: { type: 'INT64', logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'NANOS' } },
  unknown: { type: 'INT32', logical_type: { type: 'NULL' } },
};

/** What the name of a type with a unit begins with. */
const MOMENTS = { time: Time, timestamp: Timestamp };

/** The tree of a type such as `list<decimal(9,2)>`. */
export function parseType(text) {
  const parser = { text: text.replaceAll(' ', ''), at: 0 };
  const tree = typeAt(parser);
  if (parser.at < parser.text.length) throw new Unsupported(`type ${text}`);
  return tree;
}

function typeAt(parser) {
  const name = wordAt(parser);
  const brackets = { '<': ['>', name === 'struct' ? fieldAt : typeAt], '(': [')', wordAt] };
  const [close, item] = brackets[parser.text[parser.at]] ?? [];
  const parts = [];
  while (close && parser.text[parser.at] !== close && parser.at < parser.text.length) {
    parser.at++;
    parts.push(item(parser));
  }
  if (close) parser.at++;
  return { name, arguments: parts };
}

function fieldAt(parser) {
  const field = wordAt(parser);
  parser.at++;
  return { field, type: typeAt(parser) };
}

function wordAt(parser) {
  const [word] = /^[^<>(),:]*/.exec(parser.text.slice(parser.at));
  parser.at += word.length;
  return word;
}

/** The schema elements of a column, depth first. */
export function elementsOf(name, tree, nullable) {
  const element = { name, repetition_type: nullable ? OPTIONAL : REQUIRED };
  switch (tree.name) {
    case 'list':
      return [
        { ...element, num_children: 1, converted_type: 'LIST' },
        { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
        ...elementsOf('element', tree.arguments[0], true),
      ];
    case 'map':
      return [
        { ...element, num_children: 1, converted_type: 'MAP' },
        { name: 'key_value', repetition_type: 'REPEATED', num_children: 2 },
        ...elementsOf('key', tree.arguments[0], false),
        ...elementsOf('value', tree.arguments[1], true),
      ];
    case 'struct':
      return [
        { ...element, num_children: tree.arguments.length },
        ...tree.arguments.flatMap(({ field, type }) => elementsOf(field, type, true)),
      ];
    default:
      return [{ ...element, ...leafOf(tree) }];
  }
}

function leafOf({ name, arguments: parts }) {
  if (name === 'fixed') return { type: 'FIXED_LEN_BYTE_ARRAY', type_length: Number(parts[0]) };
  if (name === 'decimal') {
    const [precision, scale] = parts.map(Number);
    return { ...decimalStorage(precision), converted_type: 'DECIMAL', precision, scale };
  }
  if (!(name in LEAVES)) throw new Unsupported(`type ${name}`);
  return LEAVES[name];
}

/** The narrowest physical type that holds a number of digits. */
function decimalStorage(precision) {
  if (precision <= 9) return { type: 'INT32' };
  if (precision <= 18) return { type: 'INT64' };
  return { type: 'FIXED_LEN_BYTE_ARRAY', type_length: Math.ceil((precision * Math.log2(10) + 1) / 8) };
}

/** A value of the protocol (see values.js) as hyparquet-writer takes it for this type. */
export function libraryValue(tree, value) {
  if (value === null) return null;
  switch (tree.name) {
    case 'list':
      return value.items.map(item => libraryValue(tree.arguments[0], item));
    case 'map':
      return value.pairs.map(pair => pair.map((part, place) => libraryValue(tree.arguments[place], part)));
    case 'struct': {
      const members = new Map(value.members);
      const member = ({ field, type }) => [field, libraryValue(type, members.get(field) ?? null)];
      return Object.fromEntries(tree.arguments.map(member));
    }
    case 'decimal':
      return ofKind(Decimal, value, tree).unscaled;
    case 'date':
      return Number(ofKind(DateValue, value, tree).count);
    case 'json':
    case 'enum':
      return new TextEncoder().encode(value);
    default:
      return scalar(tree, value);
  }
}

function scalar(tree, value) {
  const [kind, unit] = tree.name.split('_');
  const plain = unit ? ofKind(MOMENTS[kind], value, tree).count / NANOSECONDS[unit.toUpperCase()] : value;
  if (plain instanceof Moment || plain instanceof Decimal) throw new Unsupported(`another kind of value in ${tree.name}`);
  return LEAVES[tree.name]?.type === 'INT32' ? Number(plain) : plain;
}

/** The value, if it is of this kind. */
function ofKind(kind, value, tree) {
  if (!(value instanceof kind)) throw new Unsupported(`another kind of value in ${tree.name}`);
  return value;
}
