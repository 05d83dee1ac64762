// Compile definitions of Kaitai Struct, and read samples by what was compiled to JavaScript.
// Input: {"definitions": {id: definition}, "samples": [[id, hex], ...]}; output: {"read": [values, ...], "python": {id: source}}.
const Compiler = require("kaitai-struct-compiler");
const KaitaiStream = require("kaitai-struct/KaitaiStream");
const { definitions, samples } = JSON.parse(require("fs").readFileSync(0, "utf8"));

const camel = (name) => name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase());
const pascal = (name) => camel(`_${name}`);

function plain(value, types) {
  if (value instanceof Uint8Array) return Buffer.from(value).toString("hex");
  if (Array.isArray(value)) return value.map((item) => plain(item, types));
  if (typeof value !== "object") return value;
  const node = types[value.constructor.name];
  const names = [...(node.seq ?? []).map(({ id }) => id), ...Object.keys(node.instances ?? {})];
  const present = names.filter((name) => (value[camel(name)] ?? null) !== null);
  return Object.fromEntries(present.map((name) => [name, plain(value[camel(name)], types)]));
}

async function main() {
  const readers = {}, python = {};
  for (const [id, definition] of Object.entries(definitions)) {
    const types = Object.entries({ ...definition.types, [id]: definition });
    const [source] = Object.values(await Compiler.compile("javascript", definition, null, false));
    const module = { exports: {} };
    new Function("module", "exports", "require", source)(module, module.exports, require);
    readers[id] = [module.exports[pascal(id)], Object.fromEntries(types.map(([name, node]) => [pascal(name), node]))];
    [python[id]] = Object.values(await Compiler.compile("python", definition, null, false));
  }
  const read = samples.map(([id, hex]) => {
    const [Reader, types] = readers[id];
    return plain(new Reader(new KaitaiStream(Buffer.from(hex, "hex"))), types);
  });
  process.stdout.write(JSON.stringify({ read, python }));
}

main();
