/** Wishes about a file as options of hyparquet-writer, and whether the file that it wrote fulfils them. */
import { brotliCompressSync, gzipSync } from 'node:zlib';

import { parquetMetadata } from 'hyparquet';
import { readOffsetIndex } from 'hyparquet/src/indexes.js';
import { parquetWriteBuffer } from 'hyparquet-writer';

import { Unsupported, asked } from '../skeletons/javascript/protocol.js';

/** Snappy is built in; other codecs the caller brings along, and Node has these two. */
const COMPRESSORS = { GZIP: bytes => gzipSync(bytes), BROTLI: bytes => brotliCompressSync(bytes) };

const CODECS = { uncompressed: 'UNCOMPRESSED', snappy: 'SNAPPY', gzip: 'GZIP', brotli: 'BROTLI' };

/** Sizes of pages that are tried, in bytes for each wished row. */
const BYTES_PER_ROW = [32, 16, 8, 4, 2, 1];

/**
 * Writes a file.
 *
 * @param {{name: string, data: any[]}[]} columnData
 * @param {object[]} schema
 * @param {object} wishes as the request has them
 * @returns {Promise<Buffer>}
 */
export async function writtenFile(columnData, schema, wishes) {
  requirePossible(wishes);
  const wished = columnData.map(column => wishedColumn(column, wishes));
  const file = await writtenPages({ ...fileOptions(wishes), schema, columnData: wished }, wishes.page_rows);
  requireFulfilled(file, columnData, wishes);
  return Buffer.from(file);
}

function requirePossible({ sorting, data_page_version: version, codec }) {
  if (sorting?.length) throw new Unsupported('sorting');
  if (version === 1) throw new Unsupported('data_page_version 1');
  if (codec && !(codec in CODECS)) throw new Unsupported(`codec ${codec}`);
}

function fileOptions({ codec, statistics, row_group_rows: rowGroupSize }) {
  return {
    compressors: COMPRESSORS,
    ...codec && { codec: CODECS[codec] },
    ...statistics !== undefined && { statistics },
    ...rowGroupSize && { rowGroupSize },
  };
}

function wishedColumn(column, { dictionary, bloom_filter: bloomFilters = [], page_index: pageIndex }) {
  return {
    ...column,
    ...dictionary !== undefined && { encoding: dictionary ? 'RLE_DICTIONARY' : 'PLAIN' },
    ...pageIndex !== undefined && { columnIndex: pageIndex, offsetIndex: pageIndex },
    ...bloomFilters.includes(column.name) && { bloomFilter: true },
  };
}

/**
 * The writer measures pages in bytes: the largest of some sizes is taken whose pages hold few enough rows. Nulls and
 * empty texts count nothing there, so that pages of them may be longer whatever the size.
 */
async function writtenPages(options, pageRows) {
  if (!pageRows) return asked(() => parquetWriteBuffer(options));
  const listed = { ...options, columnData: options.columnData.map(column => ({ ...column, offsetIndex: true })) };
  for (const bytes of BYTES_PER_ROW) {
    const pageSize = bytes * pageRows;
    const trial = await asked(() => parquetWriteBuffer({ ...listed, pageSize }));
    if (longestPage(trial) <= pageRows) return asked(() => parquetWriteBuffer({ ...options, pageSize }));
  }
  throw new Unsupported('page_rows: pages are limited by bytes, and nulls count none');
}

/** The most rows in a page of a file that lists its pages. Chunks of one page have no list. */
function longestPage(file) {
  const lengths = parquetMetadata(file).row_groups.flatMap(({ columns, num_rows: rows }) =>
    columns.map(chunk => Math.max(...pageLengths(file, chunk, Number(rows)))));
  return Math.max(0, ...lengths);
}

function pageLengths(file, { offset_index_offset: offset }, rows) {
  if (!offset) return [rows];
  const pages = readOffsetIndex({ view: new DataView(file), offset: Number(offset) }).page_locations;
  const firsts = pages.map(page => Number(page.first_row_index));
  return firsts.map((first, page) => (firsts[page + 1] ?? rows) - first);
}

/** What the writer leaves out without a word is a wish that it cannot fulfil. */
function requireFulfilled(file, columnData, { page_index: pageIndex, bloom_filter: bloomFilters = [] }) {
  const chunks = parquetMetadata(file).row_groups.flatMap(group => group.columns);
  if (pageIndex && chunks.length && !chunks.some(chunk => chunk.column_index_offset)) {
    throw new Unsupported('page_index: there is none of chunks with one page');
  }
  for (const { name, data } of columnData.filter(column => bloomFilters.includes(column.name))) {
    const ofColumn = chunks.filter(chunk => chunk.meta_data.path_in_schema[0] === name);
    const isWritten = ofColumn.some(chunk => chunk.meta_data.bloom_filter_offset);
    if (!isWritten && data.some(value => value !== null)) throw new Unsupported(`bloom_filter of ${name}`);
  }
}
