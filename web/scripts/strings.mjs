// Words belong in the dictionaries: no literal text in JSX, no literal in an attribute people read.
// Keys of the dictionaries that nothing uses are an error too.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";

const SPOKEN = new Set(["aria-label", "aria-description", "title", "alt", "label", "hint", "description", "text"]);
const EXAMPLES = new Set(["placeholder"]); // may show an address or dots, but no words
const WORD = /[\p{L}]{2,}/u;
const problems = [];
const sources = readdirSync("src", { recursive: true })
  .filter((name) => /\.tsx?$/.test(name) && !name.endsWith(".d.ts") && !name.includes(".test."))
  .map((name) => join("src", name));

for (const path of sources.filter((name) => name.endsWith(".tsx"))) {
  const file = ts.createSourceFile(path, readFileSync(path, "utf8"), ts.ScriptTarget.Latest, true, ts.ScriptKind.TSX);
  const report = (node, text) => {
    const { line } = file.getLineAndCharacterOfPosition(node.getStart());
    problems.push(`${path}:${line + 1}: literal text ${JSON.stringify(text.trim())}; give it a key in src/i18n`);
  };
  const visit = (node) => {
    if (ts.isJsxText(node) && WORD.test(node.text)) report(node, node.text);
    if (ts.isJsxAttribute(node)) {
      const name = node.name.getText();
      const value = node.initializer;
      const literal = value && ts.isStringLiteral(value) ? value.text : null;
      const isAddress = literal !== null && /^https?:/.test(literal);
      if (literal && WORD.test(literal) && (SPOKEN.has(name) || (EXAMPLES.has(name) && !isAddress))) report(node, literal);
    }
    if (ts.isJsxExpression(node) && node.expression && ts.isStringLiteralLike(node.expression)) {
      if (!ts.isJsxAttribute(node.parent) && WORD.test(node.expression.text)) report(node, node.expression.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
}

const code = sources.filter((path) => !path.startsWith(join("src", "i18n"))).map((path) => readFileSync(path, "utf8")).join("\n");
const families = [...code.matchAll(/`([a-z_]+(?:\.[a-z_]+)*\.)\$\{/g)].map((match) => match[1]);
for (const path of sources.filter((name) => /[\\/]i18n[\\/]zh[^\\/]*\.ts$/.test(name))) {
  for (const [, key] of readFileSync(path, "utf8").matchAll(/^ {2}"([^"]+)":/gm)) {
    const isUsed = code.includes(`"${key}"`) || families.some((family) => key.startsWith(family));
    if (!isUsed) problems.push(`${path}: nothing uses the key ${JSON.stringify(key)}`);
  }
}

for (const problem of problems) console.error(problem);
process.exit(problems.length > 0 ? 1 : 0);
