/** hyparquet, a reader in JavaScript: `read`, `scan` of all families, `decode` of page index and bloom filters. */
import { parquetQuery, parquetReadObjects } from 'hyparquet';
import { matchFilter } from 'hyparquet/src/filter.js';

import { READ_OPTIONS, lacks, openFile, requireReadable, rowValues } from '../skeletons/javascript/hyparquet_rows.js';
import { columnsOf } from '../skeletons/javascript/predicates.js';
import { Unsupported, answerOf, asked, pinnedVersion, runDriver } from '../skeletons/javascript/protocol.js';
import { writeValue } from '../skeletons/javascript/values.js';
import { filterOf } from './filters.js';
import { bloomFilters, pageIndexes } from './structures.js';

/** Every switch that lets hyparquet skip something; statistics of row groups are used wherever there is a filter. */
const ALL_INDEXES = { useBloomFilters: true, usePageIndex: true, useOffsetIndex: true };

const FAMILIES = ['pqf', 'sta', 'pix', 'blm', 'idx1', 'dir'];

const TYPES = ['unsigned', 'decimal', 'date', 'time', 'timestamp', 'timestamp-nanos', 'int96', 'float16', 'uuid',
  'fixed', 'enum', 'json', 'geometry', 'unknown'];

const CODECS = ['snappy', 'gzip', 'zstd', 'lz4', 'lz4-raw', 'brotli'];

function hello() {
  return {
    name: 'hyparquet',
    version: pinnedVersion('hyparquet', import.meta.url),
    language: 'JavaScript',
    capabilities: [
      'parquet', 'read', ...FAMILIES.map(family => `${family}.scan`), 'pix.decode', 'blm.decode',
      ...TYPES.map(type => `type.${type}`), 'nested', 'nested.map', ...CODECS.map(codec => `codec.${codec}`),
    ],
    serve: true,
    nan: 'unordered',
    zeros: 'equal',
  };
}

async function read({ file, columns }) {
  const opened = await openFile(file);
  return { rows: await rowsOf(opened, columns, options => parquetReadObjects({ ...options, columns })) };
}

async function* scan({ family, file, queries }) {
  const opened = await openFile(file);
  for (const query of queries) yield { seq: query.seq, ...await answerTo(query, opened, family) };
}

async function answerTo({ predicate, columns, index }, opened, family) {
  try {
    const filter = filterOf(predicate, opened.nodes);
    if (index === 'off') return { rows: await filteredRows(opened, columns, columnsOf(predicate), filter) };
    const query = options => parquetQuery({ ...options, ...ALL_INDEXES, columns, filter });
    const rows = await rowsOf(opened, columns, query);
    return { answer: family === 'IDX1' || family === 'DIR' ? 'ignored-index' : 'accept', rows };
  } catch (error) {
    return answerOf(error);
  }
}

/** All rows are read, and hyparquet's filter decides about each. */
async function filteredRows(opened, columns, filterColumns, filter) {
  const all = [...new Set([...columns, ...filterColumns])];
  return rowsOf(opened, columns, async options => {
    const rows = await parquetReadObjects({ ...options, columns: all });
    return rows.filter(row => matchFilter(row, filter));
  });
}

async function rowsOf({ file, metadata, nodes }, columns, call) {
  requireReadable(columns, nodes);
  const rows = await asked(() => call({ ...READ_OPTIONS, file, metadata }), lacks);
  return rows.map(row => rowValues(row, columns, nodes).map(writeValue));
}

async function decode({ family, file, column, probes = [] }) {
  const opened = await openFile(file);
  switch (family) {
    case 'PIX':
      return { value: { row_groups: await asked(() => pageIndexes(opened, column)) } };
    case 'BLM':
      return { value: { row_groups: await asked(() => bloomFilters(opened, column, probes)) } };
    default:
      throw new Unsupported(`decode of ${family}`);
  }
}

await runDriver({ hello, read, scan, decode });
