// The judge in a worker: loads Pyodide and the archive, opens files by slices, and answers messages {id, ask, ...}.
// Everything comes from the folder of the site that the first message names.
const slices = new FileReaderSync();
let python = null;
let session = null;
let mounted = null;

// Counts what arrives, so that the page can show how far loading is.
function counted(told) {
  const plain = self.fetch.bind(self);
  let loaded = 0;
  self.fetch = async (...request) => {
    const response = await plain(...request);
    if (!response.ok) throw new Error(`${response.url}: ${response.status} ${response.statusText}`);
    const reader = response.body.getReader();
    const stream = new ReadableStream({
      async pull(sink) {
        const { done, value } = await reader.read();
        if (done) return sink.close();
        loaded += value.length;
        told(loaded);
        sink.enqueue(value);
      },
    });
    return new Response(stream, { headers: response.headers });
  };
  return () => (self.fetch = plain);
}

async function start({ runtime }) {
  const sizes = await (await fetch(`${runtime}sizes.json`)).json();
  const total = Object.entries(sizes).reduce((sum, [name, size]) => sum + (name.endsWith(".mjs") ? 0 : size), 0);
  const restore = counted((loaded) => postMessage({ loaded: Math.min(loaded, total), total }));
  const archive = fetch(`${runtime}pqassay.zip`).then((response) => response.arrayBuffer());
  const { loadPyodide } = await import(`${runtime}pyodide.mjs`);
  python = await loadPyodide({ indexURL: runtime });
  python.unpackArchive(await archive, "zip", { extractDir: "/pqassay" });
  restore();
  python.runPython("import sys; sys.path.insert(0, '/pqassay')");
  python.runPython("from pqassay.browser.folder import Folder; from pqassay.browser.session import Session");
  return python.runPython("sys.version.split()[0]");
}

// A reader of ranges for Python; a File is never read whole.
function reader(part) {
  if (part.bytes) return (offset, length) => python.toPy(part.bytes.subarray(offset, offset + length));
  return (offset, length) => {
    const slice = slices.readAsArrayBuffer(part.file.slice(offset, offset + length));
    return python.toPy(new Uint8Array(slice));
  };
}

// A folder is laid into the file system of the runtime, which reads its files by slices as well.
async function laid({ name, files, urls }) {
  const { FS } = python;
  const parts = files ?? (await Promise.all(urls.map(async ({ path, url }) => ({ path, file: new Blob([(await fetched(url)).bytes]) }))));
  if (mounted) FS.unmount(mounted);
  else FS.mkdirTree((mounted = "/dropped"));
  FS.mount(FS.filesystems.WORKERFS, { blobs: parts.map(({ path, file }) => ({ name: path, data: file })) }, mounted);
  python.globals.set("dropped", python.toPy([mounted, name]));
  session = python.runPython("Folder(*dropped)");
}

async function open({ files, urls, folder }) {
  session?.destroy();
  session = null;
  if (folder) return laid(folder);
  const parts = files
    ? files.map((file) => ({ name: file.name, size: file.size, file }))
    : await Promise.all(urls.map(fetched));
  python.globals.set("parts", python.toPy(parts.map((part) => [part.name, part.size, reader(part)])));
  session = python.runPython(
    "Session([(name, size, lambda offset, length, read=read: bytes(read(offset, length))) for name, size, read in parts])",
  );
}

async function fetched(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: ${response.status} ${response.statusText}`);
  const bytes = new Uint8Array(await response.arrayBuffer());
  return { name: decodeURIComponent(url.slice(url.lastIndexOf("/") + 1)), size: bytes.length, bytes };
}

const answers = {
  start,
  open,
  judge: ({ tier }) => JSON.parse(session.judged(tier)),
  report: ({ form, site }) => session.report(form, site),
  around: ({ offset, length }) => JSON.parse(session.bytes_around(offset, length)),
  level: ({ path, file, start }) => JSON.parse(session.level(path, file, start ?? 0)),
  search: ({ words, file }) => JSON.parse(session.search(words, file)),
  offers: ({ path, file }) => JSON.parse(session.offers(path, file)),
  change: ({ mutation, file }) => JSON.parse(session.changed(JSON.stringify(mutation), file)),
  broken: ({ file }) => session.broken_file(file).toJs(),
};

// The last line of Python's message about an error names it; the lines before are of no use to a reader.
const said = (error) => String(error.message ?? error).trim().split("\n").at(-1).replace(/^(\w+\.)+\w+: /, "");

let queue = Promise.resolve();
self.onmessage = ({ data }) => {
  queue = queue.then(async () => {
    try {
      postMessage({ id: data.id, answer: await answers[data.ask](data) });
    } catch (error) {
      postMessage({ id: data.id, error: said(error) });
    }
  });
};
