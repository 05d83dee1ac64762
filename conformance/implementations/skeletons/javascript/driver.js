/**
 * A driver to begin with: it answers `hello` and `read`.
 *
 * Its library is hyparquet. Put yours in the marked place, declare in `hello` what it knows, and add operations to the
 * table at the end: each is a function from a request to the members of its answer. predicates.js evaluates what a
 * library cannot filter by itself.
 */
import { parquetReadObjects } from 'hyparquet';

import { READ_OPTIONS, lacks, openFile, requireReadable, rowValues } from './hyparquet_rows.js';
import { asked, runDriver } from './protocol.js';
import { writeValue } from './values.js';

function hello() {
  return {
    name: 'template',
    version: '0.1.0',
    language: 'JavaScript',
    capabilities: ['parquet', 'read'],
    serve: true,
    nan: 'unordered',
    zeros: 'equal',
    index_off: false, // whether the library itself can leave indexes aside, and still filters rows
    // raises: [...] names the errors that the library throws on purpose, or patterns; without it, the runner goes by names
  };
}

/* ---- Your library: all rows of a file, each a list of values (see values.js) in the order of the columns. ---- */
async function readRows(path, columns) {
  const { file, metadata, nodes } = await openFile(path);
  requireReadable(columns, nodes);
  const rows = await asked(() => parquetReadObjects({ ...READ_OPTIONS, file, metadata, columns }), lacks);
  return rows.map(row => rowValues(row, columns, nodes));
}
/* ---- End of the marked place. ---- */

async function read({ file, columns }) {
  const rows = await readRows(file, columns);
  return { rows: rows.map(row => row.map(writeValue)) };
}

await runDriver({ hello, read });
