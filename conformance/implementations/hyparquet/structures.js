/** Page index and bloom filters of a column, as hyparquet's own functions read them. */
import { readBloomFilter, hashParquetValue, sbbfContains } from 'hyparquet/src/bloom.js';
import { BoundaryOrders } from 'hyparquet/src/constants.js';
import { readColumnIndex, readOffsetIndex } from 'hyparquet/src/indexes.js';
import { getSchemaPath } from 'hyparquet/src/schema.js';

import { readValue, writeValue } from '../skeletons/javascript/values.js';

/** An element without an annotation, for which hyparquet hands out bounds as bytes. */
const BYTES = { type: 'FIXED_LEN_BYTE_ARRAY' };

/** What the page index says about a column, an entry for each row group. */
export async function pageIndexes({ file, metadata }, column) {
  return Promise.all(chunksOf(metadata, column).map(chunk => pageIndex(file, chunk)));
}

async function pageIndex(file, chunk) {
  const answer = {};
  const columnReader = await readerOf(file, chunk.column_index_offset, chunk.column_index_length);
  if (columnReader) {
    const index = readColumnIndex(columnReader, BYTES);
    const bounds = values => values.map((bytes, page) => (index.null_pages[page] ? null : writeValue(bytes)));
    answer.column_index = {
      null_pages: index.null_pages,
      min_values: bounds(index.min_values),
      max_values: bounds(index.max_values),
      boundary_order: index.boundary_order && BoundaryOrders.indexOf(index.boundary_order),
      null_counts: index.null_counts?.map(Number),
    };
  }
  const offsetReader = await readerOf(file, chunk.offset_index_offset, chunk.offset_index_length);
  if (offsetReader) {
    const pages = readOffsetIndex(offsetReader).page_locations;
    const location = page => [page.offset, page.compressed_page_size, page.first_row_index].map(Number);
    answer.offset_index = { page_locations: pages.map(location) };
  }
  return answer;
}

/** Sizes of the bloom filters of a column, and which of the probes they may hold, an entry for each row group. */
export async function bloomFilters({ file, metadata }, column, probes) {
  const element = getSchemaPath(metadata.schema, column.split('.')).at(-1).element;
  return Promise.all(chunksOf(metadata, column).map(chunk => bloomFilter(file, chunk.meta_data, element, probes)));
}

async function bloomFilter(file, { bloom_filter_offset: offset, bloom_filter_length: length }, element, probes) {
  const reader = await readerOf(file, offset, length ?? file.byteLength - Number(offset));
  const filter = reader && readBloomFilter(reader);
  if (!filter) return {};
  return { size: filter.blocks.byteLength, held: probes.map(probe => mayHold(filter, probe, element)) };
}

/** Without a hash hyparquet does not ask the filter. */
function mayHold({ blocks }, probe, element) {
  const value = readValue(probe);
  const hash = hashParquetValue(element.type === 'INT32' ? Number(value) : value, element);
  return hash === undefined || sbbfContains(blocks, hash);
}

function chunksOf(metadata, column) {
  return metadata.row_groups.map(({ columns }) =>
    columns.find(chunk => chunk.meta_data.path_in_schema.join('.') === column));
}

/** As hyparquet does it: an offset or a length of zero means that there is none. */
async function readerOf(file, offset, length) {
  if (!offset || !length) return undefined;
  const start = Number(offset);
  return { view: new DataView(await file.slice(start, start + Number(length))), offset: 0 };
}
