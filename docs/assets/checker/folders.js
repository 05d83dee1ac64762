// Folders that were dropped: their files have to be asked for one by one, and know their paths.
const MOST = 20000;

// To be called while the event is being told about; afterwards the browser has forgotten what was dropped.
export const entries = (items) => [...items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);

const listed = (entry) =>
  new Promise((resolve, reject) => {
    const reader = entry.createReader();
    const found = [];
    const more = () => reader.readEntries((some) => (some.length ? (found.push(...some), more()) : resolve(found)), reject);
    more();
  });

async function collect(entry, path, files) {
  if (files.length >= MOST) throw new Error(`${path} is in a folder of more than ${MOST.toLocaleString("en")} files; the command judges larger ones`);
  if (entry.isFile) files.push({ path, file: await new Promise((resolve, reject) => entry.file(resolve, reject)) });
  else for (const one of await listed(entry)) await collect(one, `${path}/${one.name}`, files);
}

// The first folder of what was dropped with all its files, or nothing.
export async function folder(dropped) {
  const found = dropped.find((entry) => entry.isDirectory);
  if (!found) return null;
  const files = [];
  await collect(found, found.name, files);
  return { name: found.name, files };
}

// The folder that was chosen in an input for folders.
export function chosen(files) {
  const paths = [...files].map((file) => ({ path: file.webkitRelativePath, file }));
  return { name: paths[0].path.split("/")[0], files: paths };
}
