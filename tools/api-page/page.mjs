/** What @svc/api exports, as one page: each export with its declaration and what the source says of it, by the file it stands in. */
import path from 'node:path';
import ts from 'typescript';
import { inRoot } from '../build/paths.mjs';

export const PAGE = inRoot('kernel/api/REFERENCE.md');
const ENTRY = inRoot('kernel/api/src/index.ts');
const SOURCES = inRoot('kernel/api/src');
/** Letters; beyond, a value or a type says less than its name. */
const MAX_VALUE = 2_500;
const MAX_TYPE = 220;

const HEAD = `# @svc/api: reference
All that the package exports, by the file of its source. Written by \`node tools/api-page.mjs\` from the types; never edited by hand. [How to begin](README.npm.md), [what a version means](VERSIONS.md).
`;

const program = () =>
  ts.createProgram([ENTRY], {
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    strict: true,
    exactOptionalPropertyTypes: true,
    types: ['node'],
    noEmit: true,
  });

/** The comment above a declaration, on one line for each of its paragraphs. */
const docOf = (symbol, checker) =>
  ts
    .displayPartsToString(symbol.getDocumentationComment(checker))
    .split('\n')
    .map((line) => line.trim())
    .join('\n')
    .trim();

const printer = ts.createPrinter({ removeComments: false });
const cleared = (text) =>
  text
    .replace(/^(?:\s*\/\*\*(?:[^*]|\*(?!\/))*\*\/\s*)/, '')
    .replace(/^export (default )?/, '')
    .replace(/^declare /, '');

const source = (node) => cleared(printer.printNode(ts.EmitHint.Unspecified, node, node.getSourceFile()));

const withoutPlaces = (text) => text.replaceAll(/import\("[^"]*"\)\./g, '');

const signatures = (name, type, node, checker) =>
  type
    .getCallSignatures()
    .map((signature) => `function ${name}${withoutPlaces(checker.signatureToString(signature, node, ts.TypeFormatFlags.NoTruncation))}`)
    .join('\n');

/** As it is written: a schema says shorter what its type repeats. */
const valueText = (name, node, checker) => {
  const value = node.initializer?.getText() ?? '';
  if (value !== '' && value.length <= MAX_VALUE) return `const ${name} = ${value}`;
  const written = withoutPlaces(checker.typeToString(checker.getTypeAtLocation(node), node, ts.TypeFormatFlags.NoTruncation));
  return written.length <= MAX_TYPE ? `const ${name}: ${written}` : `const ${name}`;
};

/** One declaration as it can be read: types whole, functions by how they are called, values by their type. */
const declarationText = (name, node, checker) => {
  if (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return source(node);
  if (ts.isClassDeclaration(node)) return `class ${name}${(node.heritageClauses ?? []).map((clause) => ` ${clause.getText()}`).join('')}`;
  if (ts.isFunctionDeclaration(node)) return signatures(name, checker.getTypeAtLocation(node), node, checker);
  const type = checker.getTypeAtLocation(node);
  if (type.getCallSignatures().length > 0) {
    const text = signatures(name, type, node, checker);
    return text.length > MAX_TYPE * 3 ? `function ${name}(…)` : text;
  }
  return valueText(name, node, checker);
};

const entryOf = (symbol, checker) => {
  const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  const declarations = (target.declarations ?? []).filter((node) => node.getSourceFile().fileName.startsWith(SOURCES));
  const [first] = declarations;
  if (!first) return undefined;
  const texts = [...new Set(declarations.map((node) => declarationText(symbol.name, node, checker)))].filter((text) => text !== '');
  return { name: symbol.name, file: path.relative(SOURCES, first.getSourceFile().fileName).split(path.sep).join('/'), at: first.pos, doc: docOf(target, checker), text: texts.join('\n') };
};

/** Of other packages, handed on: named, and documented there. */
const foreignOf = (symbols, checker) =>
  symbols
    .filter((symbol) => entryOf(symbol, checker) === undefined)
    .map(({ name }) => `\`${name}\``)
    .sort();

export const pageText = () => {
  const checked = program();
  const checker = checked.getTypeChecker();
  const symbols = checker.getExportsOfModule(checker.getSymbolAtLocation(checked.getSourceFile(ENTRY)));
  const entries = symbols.flatMap((symbol) => entryOf(symbol, checker) ?? []);
  const files = [...new Set(entries.map(({ file }) => file))].sort();
  const sections = files.map((file) => {
    const own = entries.filter((entry) => entry.file === file).sort((a, b) => a.at - b.at || (a.name < b.name ? -1 : 1));
    const parts = own.map(({ name, doc, text }) => [`### ${name}`, ...(doc === '' ? [] : [doc]), `\`\`\`ts\n${text}\n\`\`\``].join('\n\n'));
    return `## ${file}\n\n${parts.join('\n\n')}\n`;
  });
  const foreign = foreignOf(symbols, checker);
  const handedOn = foreign.length === 0 ? [] : [`Handed on from [TypeBox](https://github.com/sinclairzx81/typebox): ${foreign.join(', ')}.\n`];
  return [HEAD, ...handedOn, ...sections].join('\n');
};
