/**
 * Rows of a Parquet file as values of the protocol, by hyparquet.
 *
 * hyparquet hands out JavaScript values; the annotations of the schema say what they mean. Where its own default would lose
 * something (dates become `Date`, in milliseconds), its option `parsers` is used.
 */
import { asyncBufferFromFile, parquetMetadataAsync, parquetSchema } from 'hyparquet';
import { isListLike, isMapLike } from 'hyparquet/src/schema.js';
import { compressors } from 'hyparquet-compressors';

import { Refusal, Unsupported, asked } from './protocol.js';
import { DateValue, Decimal, List, NANOSECONDS, Pairs, Struct, Time, Timestamp } from './values.js';

/** JSON is decoded as hyparquet decodes text, but for the byte order mark, which it drops. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** What hyparquet leaves as bytes is decoded here, and has to be UTF-8. */
const strictDecoder = new TextDecoder('utf-8', { ignoreBOM: true, fatal: true });

function toNanoseconds(unit) {
  return count => (count === undefined ? undefined : BigInt(count) * NANOSECONDS[unit]);
}

/** Timestamps become nanoseconds, dates days; identifiers and shapes stay bytes, JSON stays text. */
export const parsers = {
  timestampFromMilliseconds: toNanoseconds('MILLIS'),
  timestampFromMicroseconds: toNanoseconds('MICROS'),
  timestampFromNanoseconds: toNanoseconds('NANOS'),
  dateFromDays: days => days,
  jsonFromBytes: bytes => bytes && decoder.decode(bytes),
  uuidFromBytes: bytes => bytes,
  geometryFromBytes: bytes => bytes,
  geographyFromBytes: bytes => bytes,
};

/** Options of every reading call. Bytes without an annotation stay bytes. */
export const READ_OPTIONS = { parsers, compressors, utf8: false };

/** Whether a message of the library tells what it lacks, rather than what is wrong with the file. */
export function lacks(message) {
  return /^parquet (bson|interval) not supported$|^parquet unsupported compression codec: [A-Z]/.test(message);
}

/**
 * Opens a file.
 *
 * @param {string} path
 * @returns the file, its metadata, and the nodes of its top-level columns by their names
 */
export async function openFile(path) {
  return asked(async () => {
    const file = await asyncBufferFromFile(path);
    const metadata = await parquetMetadataAsync(file, { parsers, geoparquet: false });
    const nodes = new Map(parquetSchema(metadata).children.map(node => [node.element.name, node]));
    return { file, metadata, nodes };
  }, lacks);
}

/** The values of a row, an object by column, in the order of the columns. */
export function rowValues(row, columns, nodes) {
  return columns.map(column => valueOf(nodes.get(column), row[column]));
}

/** Refuses columns whose stored form the library never shows. */
export function requireReadable(columns, nodes) {
  for (const column of columns) {
    if (nodes.get(column)?.element.logical_type?.type === 'VARIANT') {
      throw new Unsupported('VARIANT is decoded; the group that is stored is not shown');
    }
  }
}

/**
 * What the values of a leaf mean.
 *
 * @returns {{kind: string, unit?: string, scale?: number, raw?: boolean}} `raw`: a decimal that the library leaves as it
 *   is stored
 */
export function meaningOf({ type, converted_type: converted, logical_type: logical, scale }) {
  if (converted === 'DECIMAL') return { kind: 'decimal', scale: scale ?? 0 };
  if (logical?.type === 'DECIMAL') return { kind: 'decimal', scale: logical.scale, raw: true };
  if (converted === 'DATE' || logical?.type === 'DATE') return { kind: 'date' };
  if (type === 'INT96' || converted?.startsWith('TIMESTAMP') || logical?.type === 'TIMESTAMP') {
    return { kind: 'timestamp' };
  }
  if (converted === 'TIME_MILLIS' || converted === 'TIME_MICROS') return { kind: 'time', unit: converted.slice(5) };
  if (logical?.type === 'TIME') return { kind: 'time', unit: logical.unit };
  if (type === 'BOOLEAN') return { kind: 'boolean' };
  if (type === 'INT32' || type === 'INT64') return { kind: 'integer' };
  if (type === 'FLOAT' || type === 'DOUBLE' || logical?.type === 'FLOAT16') return { kind: 'float' };
  const text = ['UTF8', 'ENUM', 'JSON'].includes(converted) || ['STRING', 'ENUM', 'JSON'].includes(logical?.type);
  return { kind: text ? 'text' : 'bytes' };
}

/** The value of the protocol for a value of the library, whose place in the schema is `node`. */
function valueOf(node, value) {
  if (value === null || value === undefined || !node) return null;
  if (isListLike(node) && Array.isArray(value)) {
    const [middle] = node.children;
    const item = middle.children.length === 1 ? middle.children[0] : middle;
    return new List(value.map(one => valueOf(item, one)));
  }
  if (Array.isArray(value)) return new List(value.map(one => valueOf(node, one)));
  if (isMapLike(node)) {
    const [key, item] = node.children[0].children;
    return new Pairs(Object.entries(value).map(([name, one]) => [keyOf(key, name), valueOf(item, one)]));
  }
  if (node.children.length) {
    return new Struct(node.children.map(child => [child.element.name, valueOf(child, value[child.element.name])]));
  }
  return scalarOf(meaningOf(node.element), value);
}

/** A key of a map, which the library turns into text. */
function keyOf(node, name) {
  return /^-?\d+$/.test(name) && node.element.type.startsWith('INT') ? valueOf(node, BigInt(name)) : name;
}

function scalarOf(meaning, value) {
  const whole = wholeNumber(value);
  switch (meaning.kind) {
    case 'decimal':
      return decimalOf(meaning, value);
    case 'date':
      return whole === undefined ? value : new DateValue(whole);
    case 'time':
      return whole === undefined ? value : new Time(whole * NANOSECONDS[meaning.unit]);
    case 'timestamp':
      return whole === undefined ? value : new Timestamp(whole);
    case 'integer':
      return whole ?? value;
    case 'text':
      return value instanceof Uint8Array ? textOf(value) : value;
    default:
      return value;
  }
}

function textOf(bytes) {
  try {
    return strictDecoder.decode(bytes);
  } catch {
    throw new Refusal(new Error('a text is not UTF-8'));
  }
}

function wholeNumber(value) {
  return typeof value === 'bigint' || Number.isInteger(value) ? BigInt(value) : undefined;
}

/** The library multiplies by a power of ten and hands out a number; with an annotation that it does not know, nothing. */
function decimalOf({ scale, raw }, value) {
  if (raw) return new Decimal(value instanceof Uint8Array ? signedNumber(value) : BigInt(value), scale);
  if (!Number.isFinite(value)) return value;
  return Decimal.parse(Math.abs(value) < 1e21 ? value.toFixed(scale) : `${BigInt(value)}.${'0'.repeat(scale)}`);
}

/** A big-endian number in two's complement. */
function signedNumber(bytes) {
  return bytes.length ? BigInt.asIntN(bytes.length * 8, BigInt(`0x${Buffer.from(bytes).toString('hex')}`)) : 0n;
}
