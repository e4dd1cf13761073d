/**
 * The suite that every extension passes, first-party or not: it is what it declares,
 * it refuses third parties, and it leaves nothing behind.
 */
/// <reference types="mocha" />
import { readFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import type { ExtensionDefinition, RouteDecl } from '@svc/api';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { nameClaims } from './contract-suite-names.js';
import { bodyClaims, purgeClaims, peopleClaims, keyClaims } from './contract-suite-people.js';
import { type ContractWorlds, contractWorlds, installedOf } from './contract-worlds.js';
import { releaseFile } from './release-file.js';
import { type TestKernel, type TestKernelOptions, bootTestKernel } from './test-kernel.js';

/** How often an extension is switched: what it leaves behind once may be taken for what it needs. */
const TIMES = 3;
const README_LINES = ['Provides:', 'Service:', 'Taps:', 'Config:', 'Errors:', 'When off:', 'Promises:', 'See also:', 'Try it:', 'Test it:'];

export interface ContractOptions {
  /** Folder of the extension's sources, for what is checked by reading: README.md, src/errors.ts. */
  readonly sources?: string;
  /** How to boot a kernel in which the extension is installed. Default: as shipped. */
  readonly boot?: TestKernelOptions;
  /** Extensions from elsewhere, read anew for each kernel. */
  readonly thirdParties?: () => Promise<NonNullable<TestKernelOptions['thirdParties']>>;
  /** Loads its code into this process; by default as the daemon does. */
  readonly load?: () => Promise<ExtensionDefinition>;
  /** More text of config.toml. */
  readonly config?: string;
  /** Where its bundle stands; by default with those of the release. */
  readonly bundle?: string;
  /** Tables whose rows of an agent outlive it, because they are its owner's books. */
  readonly keeps?: readonly string[];
  /** Daemons that several extensions pass the suite in; by default some for this one alone. */
  readonly worlds?: ContractWorlds;
  /** It passed the suite on one database: on this one only the claims are made that a database has a part in. */
  readonly isOnSecondDatabase?: boolean;
}

/** Declares the suite for one extension, inside or outside another `describe`. */
export function describeExtension(id: string, options: ContractOptions = {}): void {
  const boot = async (config: string) =>
    bootTestKernel({ ...options.boot, config: `${config}${options.config ?? ''}`, ...(options.thirdParties ? { thirdParties: await options.thirdParties() } : {}) });
  describe(`the extension ${id}`, function () {
    this.timeout(60_000);
    const worlds = options.worlds ?? contractWorlds([id], boot, options.load);
    const isFirst = options.isOnSecondDatabase !== true;
    describe('as it stands', () => {
      startClaims(id, worlds.standing);
      if (!isFirst) return;
      codeClaims(id, worlds, options);
      routeClaims(id, worlds.standing);
      nameClaims(id, worlds.standing);
    });
    describe('among people', () => {
      peopleClaims(id, worlds.people);
      if (isFirst) keyClaims(id, worlds.people);
    });
    describe('when something changes', () => {
      changeClaims(id, worlds.changing, isFirst ? TIMES : 1);
      if (isFirst) serviceClaims(id, worlds.changing);
      purgeClaims(id, worlds.purged, { keeps: options.keeps ?? [] });
      bodyClaims(id, worlds.misused);
    });
    if (isFirst && options.sources !== undefined) readingClaims(id, options.sources);
  });
}

type Boot = () => Promise<TestKernel>;

function startClaims(id: string, boot: Boot): void {
  it('is active, and adds what its manifest and contributions.json declare', async () => {
    const kernel = await boot();
    const status = statusOf(kernel, id);
    const { contributions, manifest } = installedOf(kernel, id);

    expect([status.state, status.reason]).to.deep.equal(['active', null]);
    expect([...(status.contributes.route ?? [])].sort()).to.deep.equal([...contributions.routes].sort());
    expect([...(status.contributes.tool ?? [])].sort()).to.deep.equal(contributions.tools.map((tool) => tool.name).sort());
    expect(Object.keys(status.provides).sort()).to.deep.equal(Object.keys(manifest.provides ?? {}).sort());
  });
}

function codeClaims(id: string, worlds: ContractWorlds, { bundle = join(dirname(releaseFile()), 'ext', id, 'index.js') }: ContractOptions): void {
  const boot = worlds.standing;
  it('taps the hooks that its manifest names, at the stages it names, and no others', async () => {
    const kernel = await boot();
    const { manifest } = installedOf(kernel, id);
    const taps = kernel.daemon.parts.hooks.taps.active().flatMap((row) => (row.owner.id === id ? [row.value] : []));
    const tapped = new Set(taps.map((tap) => tap.hook.name));
    const named = (manifest.hooks ?? []).filter(({ name, whileNeeded = false }) => !whileNeeded || tapped.has(name));
    expect([...tapped].sort()).to.deep.equal(named.map((hook) => hook.name).sort());
    for (const { name, stage } of manifest.hooks ?? []) {
      if (typeof stage !== 'number') continue;
      for (const { hook, tap } of taps) if (hook.name === name) expect(tap.stage, name).to.equal(stage);
    }
  });

  it('opens nothing when its code is loaded, and is collected when it is dropped', async () => {
    const loaded = (await worlds.loaded()).get(id);

    expect(loaded?.opened).to.be.at.most(1);
    expect(loaded?.isReachable, 'its code is still reachable').to.equal(false);
  });

  it('asks at run time for nothing but @svc/api, Node and what its manifest takes from the host', async () => {
    const { manifest } = installedOf(await boot(), id);
    const text = await readFile(bundle, 'utf8').catch(() => '');
    const asked = [...text.matchAll(/(?<![.\w])require\("([^"]+)"\)/g)].flatMap(([, name]) => name ?? []);
    const foreign = asked.filter((name) => name !== '@svc/api' && !isBuiltin(name) && !(manifest.hostDependencies ?? []).some((allowed) => name === allowed || name.startsWith(`${allowed}/`)));
    expect(foreign).to.deep.equal([]);
  });

  it('has config sections whose defaults are valid', async () => {
    const kernel = await boot();
    const { contributions } = installedOf(kernel, id);
    const ajv = new Ajv2020({ strict: false });
    for (const [section, schema] of Object.entries(contributions.config)) {
      const value = kernel.daemon.parts.config.get(section);
      // contributions.json holds JSON Schemas, made by the build.
      if (value !== undefined) expect(ajv.validate(schema as object, value), `[${section}] ${ajv.errorsText()}`).to.equal(true);
    }
  });
}

function routeClaims(id: string, boot: Boot): void {
  it('declares for every route who may call, what it costs, and what it answers', async () => {
    for (const decl of routesOf(await boot(), id)) {
      const statuses = Object.keys(decl.responses).map(Number);
      expect(decl.permission, decl.id).to.match(/^[a-z][a-z0-9-]*\.(read|write|send|admin|own)$/);
      expect(decl.cost, decl.id).to.be.at.least(0);
      expect(decl.summary, decl.id).not.to.equal('');
      expect(
        statuses.some((status) => status < 400),
        `${decl.id} declares no success`,
      ).to.equal(true);
      if (decl.body) expect(statuses, `${decl.id} takes a body and declares no 400`).to.include(400);
    }
  });

  it('answers malformed JSON with 400 and a sentence', async () => {
    const kernel = await boot();
    for (const decl of routesOf(kernel, id)) {
      if (!decl.body) continue;
      const { status, body } = await kernel.http.send(decl.method, pathOf(decl), '{"half": ');
      expect([status, body.code], decl.id).to.deep.equal([400, 'invalid_json']);
    }
  });
}

function changeClaims(id: string, boot: Boot, times: number): void {
  it(`leaves nothing behind when it is reloaded and switched off and on, ${times === 1 ? 'once' : `${times} times`}`, async () => {
    const kernel = await boot();
    for (let i = 0; i < times; i++) {
      await kernel.daemon.kernel.reload(id);
      await kernel.daemon.kernel.disable(id);
      await kernel.daemon.kernel.enable(id);
    }
    await kernel.daemon.lifecycle.settled();

    const status = statusOf(kernel, id);
    expect(status.state).to.equal('active');
    expect(status.leaks).to.deep.equal([]);
    expect(status.strikes).to.equal(0);
  });
}

function serviceClaims(id: string, boot: Boot): void {
  it('works on without each service that it only uses', async () => {
    const kernel = await boot();
    const { manifest } = installedOf(kernel, id);
    const required = new Set(Object.keys(manifest.requires ?? {}));
    for (const service of Object.keys(manifest.optional ?? {})) {
      const provider = kernel.daemon.kernel.extensions().find((one) => one.provides[service] !== undefined);
      const takesItAlong = provider ? kernel.daemon.kernel.plan('disable', provider.id).stops.includes(id) : true;
      if (!provider || required.has(service) || takesItAlong) continue;
      await kernel.daemon.kernel.disable(provider.id);
      expect([statusOf(kernel, id).state, statusOf(kernel, id).leaks], `without ${service}`).to.deep.equal(['active', []]);
      await kernel.daemon.kernel.enable(provider.id);
    }
  });
}

function readingClaims(id: string, sources: string): void {
  it('explains itself in a README of the house’s form', async () => {
    const readme = await readFile(join(sources, 'README.md'), 'utf8');
    expect(readme.split('\n')[0]).to.equal(`# ${id}`);
    for (const line of README_LINES) expect(readme, line).to.contain(`\n${line}`);
  });

  it('names in its README exactly the errors that its table has', async () => {
    const readme = await readFile(join(sources, 'README.md'), 'utf8');
    // What a hook's verdict says is no row of the table; the README marks it.
    const said = [...(/\nErrors:(.*)/.exec(readme)?.[1] ?? '').matchAll(/([a-z][a-z0-9_]*) (\d{3})(?! \(verdict\))/g)].map((match) => `${match[1]} ${match[2]}`);
    const table = await errorTable(sources);

    expect(
      table.filter((row) => !said.includes(row)),
      'in the table, not in the README',
    ).to.deep.equal([]);
    expect(
      said.filter((row) => table.length > 0 && !table.includes(row)),
      'in the README, not in the table',
    ).to.deep.equal([]);
  });
}

/** Beside src/errors.ts: what only slash commands answer stands with them. */
const ERROR_FILES = ['src/errors.ts', 'src/slash-commands.ts'];

/** `code status` of every row, read as text: the bundle does not export it. */
async function errorTable(sources: string): Promise<string[]> {
  const text = (await Promise.all(ERROR_FILES.map((file) => readFile(join(sources, file), 'utf8').catch(() => '')))).join('\n');
  const rows: string[] = [];
  for (const block of text.split(/defineErrors\(/).slice(1)) {
    const area = /^'([a-z0-9_-]*)'/.exec(block)?.[1] ?? '';
    for (const [, key, status] of block.matchAll(/^\s{2,}([a-z][a-z0-9_]*): \{\s*status: (\d{3})/gm)) {
      rows.push(`${area === '' || key?.startsWith(`${area}_`) ? key : `${area}_${key}`} ${status}`);
    }
  }
  return rows;
}

const statusOf = (kernel: TestKernel, id: string) => {
  const status = kernel.daemon.kernel.extensions().find((one) => one.id === id);
  if (!status) throw new Error(`there is no extension ${id}`);
  return status;
};

const routesOf = (kernel: TestKernel, id: string): RouteDecl[] => kernel.daemon.parts.http.routes.active().flatMap((row) => (row.owner.id === id ? [row.value] : []));

const pathOf = (decl: RouteDecl): string => decl.path.replaceAll(/\{[^}]+\}/g, '00000000-0000-4000-8000-000000000000');
