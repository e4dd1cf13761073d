/** The files that every new extension has. */
import type { Names, TemplateParts } from './template.js';

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

const NEEDED = ['@svc/api', '@svc/cli', '@svc/testing', '@types/node', 'typescript'];
const FROM_REGISTRY: Readonly<Record<string, string>> = { '@types/node': '>=20', typescript: '>=5.9' };

/** `apiVersion` names the versions of all our packages, because they are published together; `packages` names other places of some. */
export const commonFiles = (
  { id }: Names,
  { description, manifest, about, needs = [] }: TemplateParts,
  apiVersion: string,
  packages: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> => ({
  'package.json': json({
    name: id,
    version: '0.1.0',
    description,
    license: 'UNLICENSED',
    keywords: ['svc-extension'],
    files: ['dist', 'extension.json', 'contributions.json', 'README.md', 'LICENSE', 'SIGNATURE.json'],
    scripts: { build: 'svc ext build', check: 'tsc -p .', test: 'svc ext test', dev: 'svc dev' },
    devDependencies: Object.fromEntries([...NEEDED, ...needs].sort().map((name) => [name, packages[name] ?? FROM_REGISTRY[name] ?? `^${apiVersion}`])),
  }),
  'extension.json': json({ manifest: 1, id, api: `^${apiVersion}`, ...manifest }),
  'tsconfig.json': json({
    compilerOptions: { target: 'es2023', module: 'esnext', moduleResolution: 'bundler', strict: true, noEmit: true, types: ['node'], skipLibCheck: true },
    include: ['src'],
  }),
  '.gitignore': 'node_modules/\ndist/\n',
  'README.md': `# ${id}
${description}

${about}

    npm install
    npm test             # builds it, and runs the contract suite of svc and the tests in test/
    npm run dev          # builds and reloads it in the running daemon with each change
    svc ext pack         # one file, to sign and to publish
`,
});
