// What the built studio may weigh, gzipped. Usage: node scripts/budget.mjs [folder of the build]
import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const KB = 1000;
const here = dirname(fileURLToPath(import.meta.url));
const root = resolve(process.argv[2] ?? join(here, "../../src/wenfang/web/static"));

/** In kB. What a person waits for at that moment: the part and all it imports, less what is there already. */
const PARTS = [
  { name: "entry", limit: 210, from: "index" },
  { name: "workspace", limit: 80, from: "Workspace" },
  { name: "editor", limit: 125, from: "FileView" },
  { name: "diff", limit: 25, from: "Conflict" },
  { name: "markdown", limit: 60, from: "Markdown" },
];
const OTHER = 40;
const ALL = 520;

let chunks;
try {
  chunks = JSON.parse(readFileSync(join(root, "manifest.json"), "utf8"));
} catch {
  console.error(`${root} holds no build: run \`npm run build\` in web/ first`);
  process.exit(1);
}

const loaded = new Set();
/** The weight of the files that `key` needs and nobody has loaded yet. */
function load(key) {
  const chunk = chunks[key];
  let weight = 0;
  for (const file of [chunk.file, ...(chunk.css ?? [])]) {
    if (loaded.has(file)) continue;
    loaded.add(file);
    weight += gzipSync(readFileSync(join(root, file)), { level: 9 }).length / KB;
  }
  return (chunk.imports ?? []).filter((each) => !loaded.has(chunks[each].file)).reduce((sum, each) => sum + load(each), weight);
}

function loadNamed(wanted) {
  const found = Object.entries(chunks).find(([, { name }]) => name === wanted);
  if (!found) throw new Error(`the build has no ${wanted}: bring PARTS in scripts/budget.mjs up to date`);
  return load(found[0]);
}

const rows = PARTS.map(({ name, limit, from }) => ({ name, limit, weight: loadNamed(from) }));
for (const [key, chunk] of Object.entries(chunks)) {
  if (!loaded.has(chunk.file)) rows.push({ name: chunk.name, limit: OTHER, weight: load(key) });
}
rows.push({ name: "all", limit: ALL, weight: rows.reduce((sum, { weight }) => sum + weight, 0) });

let isOver = false;
for (const { name, limit, weight } of rows) {
  const verdict = weight > limit ? "OVER" : "ok";
  isOver ||= weight > limit;
  console.log(`${name.padEnd(18)} ${weight.toFixed(1).padStart(7)} kB of ${String(limit).padStart(4)}  ${verdict}`);
}
process.exit(isOver ? 1 : 0);
