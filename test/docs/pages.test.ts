/** What the pages say of this repository is so: generated parts, links, codes, paths, numbers. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { bootTestKernel, stopTestKernels } from '@svc/testing';
import { expect } from 'chai';
import { commandNames } from '../../kernel/cli/test/program.js';
import { recordedOperations, ROOT, shapeOf, specOperations } from '../conformance/operations.js';
import { COMING, ERRORS, PAGES, proseOf, README, SETTINGS, snippetsOf, textOf } from './pages.js';
import { sourcesIn } from './reference/errors.js';
import { COMMAND, referenceFiles } from './reference/files.js';

/** Beside the pages for operators, whatever else is linked from them. */
const LINKING = [
  ...PAGES,
  'CONTRIBUTING.md',
  'kernel/README.md',
  'kernel/api/README.md',
  'kernel/client/README.md',
  'test/crash/README.md',
  'tools/README.md',
  'tools/bench/README.md',
  'test/README.md',
  'schemas/README.md',
];
const MAX_README_LINES = 100;

describe('the pages for people', () => {
  afterEach(stopTestKernels);

  it('have generated parts that are up to date', async () => {
    for (const [file, text] of Object.entries(await referenceFiles())) expect(textOf(file), `${file} is stale; build and run \`${COMMAND}\``).to.equal(text);
  });

  it('say of every setting what it does', () => {
    const rows = textOf(SETTINGS)
      .split('\n')
      .filter((line) => line.startsWith('| `'));
    expect(rows).to.have.length.above(80);
    expect(rows.filter((row) => /\|\s*\|$/.test(row) && !row.startsWith('| `name`') && !row.startsWith('| `role`'))).to.deep.equal([]);
  });

  it(`begin with a page of at most ${MAX_README_LINES} lines`, () => {
    expect(textOf(README).split('\n')).to.have.length.at.most(MAX_README_LINES + 1);
  });

  it('link to files and headings that are there', () => {
    const broken = LINKING.flatMap((page) =>
      linksOf(page)
        .filter((link) => !leadsSomewhere(page, link))
        .map((link) => `${page}: ${link}`),
    );
    expect(broken).to.deep.equal([]);
  });

  it('count the operations as the records do', () => {
    const [all, served] = [specOperations().length, recordedOperations().length];
    expect(proseOf(README)).to.contain(`has ${all} operations. ${served} of them are served`);
    expect(proseOf(COMING)).to.contain(`${served} of the ${all}`);
  });

  it('name paths that the daemon answers', async () => {
    const { daemon } = await bootTestKernel({ config: '[extensions]\npreset = "full"\n' });
    const served = daemon.kernel.routes().map(({ path }) => shapeOf({ method: '', path }));
    const named = PAGES.flatMap((page) => [...textOf(page).matchAll(/(?<![\w.])\/(?:api|v1)\/[\w/{}.:-]*\w\}?/g)].map(([path]) => ({ page, path })));
    expect(named).to.have.length.above(8);
    // Below /api/ext answer extensions from elsewhere, and none is installed here.
    const unknown = named.filter(({ path }) => path !== '/api/ext' && !served.some((route) => route === shapeOf({ method: '', path }) || route.startsWith(`${shapeOf({ method: '', path })}/`)));
    expect(unknown).to.deep.equal([]);
  });

  it('name commands that there are', () => {
    const named = PAGES.flatMap((page) => [...textOf(page).matchAll(/(?:npx |`)svc ([a-z]+)/g)].map(([, name = '']) => name));
    expect([...new Set(named)].filter((name) => !commandNames().includes(name))).to.deep.equal([]);
  });

  it('explain codes that there are', () => {
    const known = new Set(sourcesIn(ROOT).flatMap(codesIn));
    const explained = [...textOf(ERRORS).matchAll(/^\| `([a-z_]+)` \|/gm)].map(([, code = '']) => code);
    expect(explained).to.have.length.above(24);
    expect(explained.filter((code) => !known.has(code))).to.deep.equal([]);
  });

  it('name every code that there is', () => {
    const named = new Set([...textOf(ERRORS).matchAll(/`([a-z0-9_]+)`/g)].map(([, code = '']) => code));
    const codes = sourcesIn(ROOT)
      .flatMap(codesIn)
      .filter((code) => code.includes('_'));
    expect(codes).to.have.length.above(500);
    expect([...new Set(codes)].filter((code) => !named.has(code))).to.deep.equal([]);
  });

  it('explain what an upgrade or a change of an installed extension is refused with', () => {
    const explained = new Set([...textOf(ERRORS).matchAll(/^\| `([a-z_]+)` \|/gm)].map(([, code = '']) => code));
    for (const code of ['install_trial_open', 'install_downgrade', 'install_changing', 'isolation_modified', 'daemon_restore_later']) expect(explained).to.include(code);
  });

  it('show snippets in languages that are known', () => {
    const languages = new Set(PAGES.flatMap(snippetsOf).map(({ language }) => language));
    expect([...languages].filter((language) => !['sh', 'console', 'toml', 'ini', 'nginx'].includes(language))).to.deep.equal([]);
  });
});

/** The wire codes of `defineErrors` (the area goes before the key), and those that are written out. */
const codesIn = (source: string): string[] => {
  const tables = source.split(/\bdefineErrors\(\s*'/).slice(1);
  const declared = tables.flatMap((text) => {
    const area = text.slice(0, text.indexOf("'"));
    return [...text.matchAll(/^ {2}([a-z0-9_]+): \{/gm)].map(([, key = '']) => (area === '' || key.startsWith(`${area}_`) ? key : `${area}_${key}`));
  });
  return [...declared, ...[...source.matchAll(/(?:code: |CODE = )'([a-z_]+)'/g)].map(([, code = '']) => code)];
};

const linksOf = (page: string): string[] =>
  [
    ...proseOf(page)
      .replaceAll(/`[^`\n]*`/g, '')
      .matchAll(/\]\(([^)\s]+)\)/g),
  ]
    .map(([, link = '']) => link)
    .filter((link) => !/^[a-z]+:/.test(link));

const leadsSomewhere = (page: string, link: string): boolean => {
  const [path = '', heading] = link.split('#');
  const file = path === '' ? page : join(dirname(page), path);
  if (!existsSync(join(ROOT, file))) return false;
  return heading === undefined || headingsOf(file).includes(heading);
};

/** As GitHub names the places of headings. */
const headingsOf = (file: string): string[] =>
  [...textOf(file).matchAll(/^#+ (.+)$/gm)].map(([, text = '']) =>
    text
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, '')
      .trim()
      .replaceAll(/\s/g, '-'),
  );
