// Verify a pack: every file has its size and digest, every damaged file a reason.  node verify_pack.mjs DIR
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
const pack = process.argv[2], { edition, files } = JSON.parse(readFileSync(`${pack}/manifest.json`));
const all = files.flatMap((file) => [file, ...(file.beside ?? []), ...(file.rows ? [file.rows] : [])]);
const wrong = all.filter(({ path, bytes, sha256 }) => {
  const content = readFileSync(`${pack}/${path}`);
  return content.length !== bytes || createHash("sha256").update(content).digest("hex") !== sha256;
}).concat(files.filter(({ kind, reason }) => (kind === "valid") === /^[A-Z0-9]+-\d+/.test(reason ?? "")));
console.log(`edition ${edition.number}: ${all.length} files, ${wrong.length} wrong`, ...wrong.map(({ path }) => path));
process.exitCode = wrong.length ? 1 : 0;
