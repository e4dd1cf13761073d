/**
 * What a program of many files imports from @svc/api it takes from the file that declares it. The bundler would put all
 * that the entry of the package names into the first file that a command loads: `svc status` would read TypeBox.
 */
import { readFileSync } from 'node:fs';
import { inRoot } from './paths.mjs';

const ENTRIES = { '@svc/api': 'index', '@svc/api/internal': 'internal' };
const EXPORT = /^export \{([^}]*)\} from '\.\/([^']+)\.js';$/gm;
/** Comments and imports, up to the first line of code: below it, what reads like an import is text, such as that of a template. */
const HEAD = /^(?:\s|\/\*[\s\S]*?\*\/|\/\/[^\n]*\n|import [^;]*;)*/;
const IMPORT = /^import \{([^}]*)\} from '(@svc\/api(?:\/internal)?)';$/gm;

const specsOf = (list) =>
  list
    .split(',')
    .map((spec) => spec.trim())
    .filter((spec) => spec !== '');

/** The source of each value by its name. */
const placesOf = (entry) =>
  new Map([...readFileSync(inRoot(`kernel/api/src/${entry}.ts`), 'utf8').matchAll(EXPORT)].flatMap(([, list, file]) => specsOf(list).map((name) => [name, inRoot(`kernel/api/src/${file}.ts`)])));

/** The statement keeps its lines, so that stacks name those that were written. */
const direct = (statement, list, places) => {
  const files = new Map();
  for (const spec of specsOf(list)) {
    if (spec.startsWith('type ')) continue;
    const file = places.get(spec.split(' as ')[0]);
    if (file === undefined) return statement; // the bundler says what is wrong with it
    files.set(file, [...(files.get(file) ?? []), spec]);
  }
  const lines = '\n'.repeat(statement.split('\n').length - 1);
  return [...files].map(([file, specs]) => `import { ${specs.join(', ')} } from ${JSON.stringify(file)};`).join(' ') + lines;
};

export const directImports = {
  name: 'direct-imports',
  setup(build) {
    const places = Object.fromEntries(Object.entries(ENTRIES).map(([name, entry]) => [name, placesOf(entry)]));
    build.onLoad({ filter: /[\\/](kernel|extensions)[\\/].+\.ts$/ }, ({ path }) => {
      const source = readFileSync(path, 'utf8');
      const [head] = HEAD.exec(source);
      const contents = head.replace(IMPORT, (statement, list, name) => direct(statement, list, places[name])) + source.slice(head.length);
      return contents === source ? undefined : { contents, loader: 'ts' };
    });
  },
};
