/** hyparquet-writer, a writer in JavaScript: `encode` with wishes. */
import { writeFileSync } from 'node:fs';

import { Unsupported, pinnedVersion, runDriver } from '../skeletons/javascript/protocol.js';
import { readValue } from '../skeletons/javascript/values.js';
import { elementsOf, libraryValue, parseType } from './schema.js';
import { writtenFile } from './wishes.js';

const FAMILIES = ['pqf', 'sta', 'pix', 'blm'];

const TYPES = ['unsigned', 'decimal', 'date', 'time', 'timestamp', 'timestamp-nanos', 'float16', 'uuid', 'fixed',
  'enum', 'json', 'bson', 'unknown'];

function hello() {
  return {
    name: 'hyparquet-writer',
    version: pinnedVersion('hyparquet-writer', import.meta.url),
    language: 'JavaScript',
    capabilities: [
      'parquet', ...FAMILIES.map(family => `${family}.encode`), ...TYPES.map(type => `type.${type}`), 'nested',
      'nested.map', 'codec.snappy', 'codec.gzip', 'codec.brotli',
    ],
    serve: true,
    nan: 'unordered',
    zeros: 'equal',
  };
}

async function encode({ family, column, rows, output, wishes = {} }) {
  if (!FAMILIES.includes(family.toLowerCase())) throw new Unsupported(`encode of ${family}`);
  const columns = rows.columns.map(({ name, type, nullable }) => ({ name, nullable, tree: parseType(type) }));
  const schema = [
    { name: 'root', num_children: columns.length },
    ...columns.flatMap(({ name, tree, nullable }) => elementsOf(name, tree, nullable)),
  ];
  const columnData = columns.map(({ name, tree }, place) => ({
    name,
    data: rows.rows.map(row => libraryValue(tree, readValue(row[place]))),
  }));
  writeFileSync(output, await writtenFile(columnData, schema, wishesOf(family, column, wishes)));
  return {};
}

/** The structure of the family is itself a wish. */
function wishesOf(family, column, wishes) {
  if (family === 'PIX') return { page_index: true, ...wishes };
  if (family === 'BLM' && column) return { bloom_filter: [column.split('.')[0]], ...wishes };
  return wishes;
}

await runDriver({ hello, encode });
