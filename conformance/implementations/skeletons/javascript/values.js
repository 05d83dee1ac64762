/**
 * Values of the protocol: in JSON, and in JavaScript.
 *
 * | JSON | JavaScript |
 * | --- | --- |
 * | null, true, text | the same |
 * | a whole number, `{"int"}` | `bigint` |
 * | `{"float"}` | `number` |
 * | `{"bytes"}` | `Uint8Array` |
 * | `{"decimal"}` | `Decimal` |
 * | `{"date"}`, `{"time"}`, `{"timestamp"}` | `DateValue`, `Time`, `Timestamp` |
 * | `{"list"}`, `{"struct"}`, `{"map"}` | `List`, `Struct`, `Pairs` |
 */

/** Whole numbers up to this size are numbers in JSON. */
const EXACT_INTEGERS = 2n ** 53n;

/** A decimal: `unscaled` divided by ten to the power of `scale`. */
export class Decimal {
  constructor(unscaled, scale) {
    this.unscaled = unscaled;
    this.scale = scale;
  }

  static parse(text) {
    const [whole, fraction = ''] = text.split('.');
    return new Decimal(BigInt(whole + fraction), fraction.length);
  }

  toString() {
    const sign = this.unscaled < 0n ? '-' : '';
    const digits = String(this.unscaled < 0n ? -this.unscaled : this.unscaled).padStart(this.scale + 1, '0');
    const point = digits.length - this.scale;
    return sign + digits.slice(0, point) + (this.scale ? `.${digits.slice(point)}` : '');
  }
}

/** A count of days or nanoseconds. */
export class Moment {
  constructor(count) {
    this.count = count;
  }
}

/** Days since 1970-01-01. */
export class DateValue extends Moment {}

/** Nanoseconds since midnight. */
export class Time extends Moment {}

/** Nanoseconds since 1970-01-01. */
export class Timestamp extends Moment {}

/** A list of values. */
export class List {
  constructor(items) {
    this.items = items;
  }
}

/** Members of a group: `[name, value]` in their order. */
export class Struct {
  constructor(members) {
    this.members = members;
  }
}

/** A map: pairs of a key and a value, in their order. */
export class Pairs {
  constructor(pairs) {
    this.pairs = pairs;
  }
}

/** Nanoseconds in a unit, as annotations call it. */
export const NANOSECONDS = { MILLIS: 1_000_000n, MICROS: 1000n, NANOS: 1n };

const READERS = {
  int: text => BigInt(text),
  float: readFloat,
  bytes: text => Uint8Array.from(Buffer.from(text, 'hex')),
  decimal: text => Decimal.parse(text),
  date: text => new DateValue(BigInt(text)),
  time: text => new Time(BigInt(text)),
  timestamp: text => new Timestamp(BigInt(text)),
  list: items => new List(items.map(readValue)),
  struct: members => new Struct(Object.entries(members).map(([name, value]) => [name, readValue(value)])),
  map: pairs => new Pairs(pairs.map(pair => pair.map(readValue))),
};

/** The value that is written in JSON (already parsed). */
export function readValue(written) {
  if (written === null || typeof written === 'string' || typeof written === 'boolean') return written;
  if (typeof written === 'number') return BigInt(written);
  const [[tag, content]] = Object.entries(written);
  if (!(tag in READERS)) throw new Error(`${tag} is not a kind of value`);
  return READERS[tag](content);
}

/** A value as it is written in JSON, before `JSON.stringify`. Absent values are null. */
export function writeValue(value) {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'bigint') return writeInteger(value);
  if (typeof value === 'number') return { float: writeFloat(value) };
  if (value instanceof Uint8Array) return { bytes: Buffer.from(value).toString('hex') };
  if (value instanceof Decimal) return { decimal: String(value) };
  if (value instanceof DateValue) return { date: String(value.count) };
  if (value instanceof Time) return { time: String(value.count) };
  if (value instanceof Timestamp) return { timestamp: String(value.count) };
  if (value instanceof List) return { list: Array.from(value.items, writeValue) };
  if (value instanceof Struct) {
    return { struct: Object.fromEntries(value.members.map(([name, member]) => [name, writeValue(member)])) };
  }
  if (value instanceof Pairs) return { map: value.pairs.map(pair => pair.map(writeValue)) };
  throw new Error(`${value} is not a value of the protocol`);
}

function writeInteger(value) {
  return value >= -EXACT_INTEGERS && value <= EXACT_INTEGERS ? Number(value) : { int: String(value) };
}

function readFloat(text) {
  const named = { nan: NaN, inf: Infinity, '-inf': -Infinity };
  return text in named ? named[text] : Number(text);
}

function writeFloat(value) {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  return Object.is(value, -0) ? '-0.0' : String(value);
}
