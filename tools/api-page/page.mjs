/** What @svc/api exports, as one page: each export with its declaration and its comment, in the groups and the order of src/index.ts. */
import ts from 'typescript';
import { inRoot } from '../build/paths.mjs';

export const PAGE = inRoot('kernel/api/REFERENCE.md');
const ENTRY = inRoot('kernel/api/src/index.ts');
const SOURCES = inRoot('kernel/api/src');
/** Letters; beyond, a value or a type says less than its name. */
const MAX_VALUE = 2_500;
const MAX_TYPE = 220;

const HEAD = `# @svc/api: reference
Everything that the package exports, grouped by task. To begin, see the [guide](README.npm.md); for compatibility, see [versions](VERSIONS.md).

<!-- Written by \`node tools/api-page.mjs\` from the types and the groups in src/index.ts. Do not edit it by hand. -->
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
  return { name: symbol.name, doc: docOf(target, checker), text: texts.join('\n') };
};

/** Of other packages, handed on: named, and documented there. */
const foreignOf = (symbols, checker) =>
  symbols
    .filter((symbol) => entryOf(symbol, checker) === undefined)
    .map(({ name }) => `\`${name}\``)
    .sort();

/** The groups of the entry: each begins with a comment, `Heading: what it is for.`, and has the names that are exported below it, in their order. */
const groupsOf = (file) => {
  const groups = [];
  for (const statement of file.statements) {
    if (!ts.isExportDeclaration(statement) || !statement.exportClause || !ts.isNamedExports(statement.exportClause)) continue;
    const [comment] = ts.getLeadingCommentRanges(file.text, statement.pos)?.filter(({ kind }) => kind === ts.SyntaxKind.SingleLineCommentTrivia) ?? [];
    if (comment) groups.push({ ...headingOf(file.text.slice(comment.pos + 2, comment.end).trim()), names: [] });
    groups.at(-1)?.names.push(...statement.exportClause.elements.map(({ name }) => name.text));
  }
  return groups;
};

const headingOf = (comment) => {
  const [heading = '', ...rest] = comment.replace(/\.$/, '').split(': ');
  return { heading, about: rest.join(': ') };
};

/** As GitHub makes it. */
const anchorOf = (heading) =>
  heading
    .toLowerCase()
    .replaceAll(/[^a-z0-9 -]/g, '')
    .replaceAll(' ', '-');

const sectionText = ({ about, entries, heading }) => {
  const parts = entries.map(({ name, doc, text }) => [`### ${name}`, ...(doc === '' ? [] : [doc]), `\`\`\`ts\n${text}\n\`\`\``].join('\n\n'));
  return `## ${heading}\n\n${[...(about === '' ? [] : [`${about.charAt(0).toUpperCase()}${about.slice(1)}.`]), ...parts].join('\n\n')}\n`;
};

export const pageText = () => {
  const checked = program();
  const checker = checked.getTypeChecker();
  const file = checked.getSourceFile(ENTRY);
  const symbols = checker.getExportsOfModule(checker.getSymbolAtLocation(file));
  const found = new Map(symbols.flatMap((symbol) => (entryOf(symbol, checker) === undefined ? [] : [[symbol.name, entryOf(symbol, checker)]])));
  const groups = groupsOf(file).map((group) => ({ ...group, entries: group.names.flatMap((name) => found.get(name) ?? []) }));
  const listed = new Set(groups.flatMap(({ names }) => names));
  const missing = [...found.keys()].filter((name) => !listed.has(name));
  if (missing.length > 0) throw new Error(`src/index.ts exports these below no comment that names their group: ${missing.join(', ')}`);
  const contents = groups.map(({ about, heading }) => `- [${heading}](#${anchorOf(heading)})${about === '' ? '' : `: ${about}`}`).join('\n');
  const foreign = foreignOf(symbols, checker);
  const handedOn = foreign.length === 0 ? [] : [`Exported from [TypeBox](https://github.com/sinclairzx81/typebox): ${foreign.join(', ')}.\n`];
  return [HEAD, `${contents}\n`, ...handedOn, ...groups.map(sectionText)].join('\n');
};
