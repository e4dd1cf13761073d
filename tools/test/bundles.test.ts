/** What an extension's bundle leaves out, and what it loads only when it is used. */
import { expect } from 'chai';
import { build } from 'esbuild';
import { lazyPackages } from '../build/lazy-packages.mjs';
import { withUnusedLeftOut } from '../build/unused-contracts.mjs';

const CONTRACT = [
  "import { defineService, Type } from '@svc/api';",
  '',
  'const Part = Type.Object({',
  "  name: Type.String({ description: 'part of it' }),",
  '});',
  'export const Whole = Type.Object({ ...Part.properties });',
  'export type Whole = typeof Whole;',
  "export const Used = defineService('used', Whole);",
  "export const Unused = defineService('unused', {",
  '  ask: Type.String(),',
  '});',
  'export const isUsed = (name: string): boolean => name !== Unused.name;',
  "export const asText = (): string => 'text';",
  '',
].join('\n');

const bundled = async (contents: string, used: string): Promise<string> => {
  const { outputFiles } = await build({
    stdin: { contents: `import { ${used} } from 'contract';\nglobalThis.used = ${used};` },
    bundle: true,
    write: false,
    format: 'cjs',
    platform: 'node',
    external: ['@svc/api'],
    plugins: [
      {
        name: 'contract',
        setup: ({ onResolve, onLoad }) => {
          onResolve({ filter: /^contract$/ }, ({ path }) => ({ path, namespace: 'contract' }));
          onLoad({ filter: /.*/, namespace: 'contract' }, () => ({ contents, loader: 'ts' }));
        },
      },
    ],
  });
  return outputFiles[0]?.text ?? '';
};

describe('the bundle of an extension', () => {
  it('has of the contract of another what is used of it, and what that needs', async () => {
    const source = withUnusedLeftOut(CONTRACT);
    const whole = await bundled(CONTRACT, 'Used');
    const small = await bundled(source, 'Used');
    expect(whole).to.contain('"unused"');
    expect(small).to.contain('part of it').and.contain('"used"');
    expect(small).to.not.contain('"unused"');
    expect(await bundled(source, 'isUsed'))
      .to.contain('"unused"')
      .and.not.contain('part of it');
  });

  it('leaves every other statement as it is', () => {
    for (const same of ['const f = async (): Promise<void> => {\n  await g();\n};\n', 'export const f = (a: string) => a;\n', 'export function f() {\n  return 1;\n}\n', "export * from './x.js';\n"])
      expect(withUnusedLeftOut(same)).to.equal(same);
  });

  it('loads a package that lies outside of it with the first of its names that is used', async () => {
    const { outputFiles } = await build({
      stdin: { contents: "import { parse } from 'yaml';\nmodule.exports = { read: () => parse('a: 1') };", resolveDir: process.cwd() },
      bundle: true,
      write: false,
      format: 'cjs',
      platform: 'node',
      external: ['yaml'],
      plugins: [lazyPackages('.', ['yaml'])],
    });
    const loaded: string[] = [];
    const module = { exports: {} as { read(): unknown } }; // what the bundle gives
    new Function('module', 'require', outputFiles[0]?.text ?? '')(module, (name: string) => {
      loaded.push(name);
      return { parse: () => 'parsed' };
    });
    expect(loaded).to.deep.equal([]);
    expect(module.exports.read()).to.equal('parsed');
    expect(loaded).to.deep.equal(['yaml']);
  });
});
