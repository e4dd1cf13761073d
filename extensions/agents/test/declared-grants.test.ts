/** Grants of capabilities that areas declare: in the manifest, kept with the agent, and after the area has gone. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { capabilityNameFault } from '@svc/api';
import { createValueChecks } from '@svc/platform/schema/value-checks';
import { bootTestKernel, OPEN_RATE, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import { readManifest } from '../src/manifest/manifest-reader.js';
import { CAPABILITY_KEYS } from '../src/manifest/manifest-keys.js';
import { parseManifestToml, plainManifest } from '../src/manifest/manifest-toml.js';
import { calendar, CALENDAR } from './calendar.js';

const ground = { schemas: createValueChecks(), declared: CALENDAR };
const readText = async (text: string) => readManifest(ground, await parseManifestToml(text), text);
const readGrants = (capabilities: unknown) => readManifest(ground, plainManifest({ capabilities }));

interface Problem {
  readonly line: number | null;
  readonly key: string;
  readonly message: string;
  readonly expected: string;
}
const problemsOf = (work: Promise<unknown>): Promise<readonly Problem[]> =>
  work.then(
    () => [],
    (error: { details?: { problems: readonly Problem[] } }) => error.details?.problems ?? [],
  );

describe('a manifest that grants what areas declare', () => {
  it('is read in the form that each declares, one text for a list of it, and as it was written', async () => {
    const { manifest, warnings } = await readText('[capabilities]\ncalendar_read = ["work/*", "home"]\ncalendar_sync = "*.example.org"\ncalendar_share = false\ntools = ["*"]\n');
    expect(manifest.capabilities.declared).to.deep.equal({ calendar_read: ['work/*', 'home'], calendar_sync: ['*.example.org'], calendar_share: false });
    expect(manifest.capabilities.tools).to.deep.equal(['*']);
    expect([warnings, manifest.kept]).to.deep.equal([[], {}]);
    expect((await readGrants({ tools: ['*'] })).manifest.capabilities).to.not.have.property('declared');
  });

  it('is refused where a grant has another form, with line, key, what was expected and what to write', async () => {
    const text = 'name = "x"\n[capabilities]\ncalendar_read = true\ncalendar_share = "yes"\ncalendar_sync = ["http://example.org/path"]\n';
    expect(await problemsOf(readText(text))).to.deep.equal([
      { line: 3, key: 'capabilities.calendar_read', message: 'capabilities.calendar_read must be a list of patterns. Write calendar_read = ["*"], or leave it out', expected: 'a list of patterns' },
      {
        line: 5,
        key: 'capabilities.calendar_sync',
        message: 'capabilities.calendar_sync has the pattern "http://example.org/path", which is not a host, *.domain, address or block. Write calendar_sync = ["*.example.org"], or leave it out',
        expected: 'a list of hosts',
      },
      { line: 4, key: 'capabilities.calendar_share', message: 'capabilities.calendar_share must be true or false. Write calendar_share = true, or leave it out', expected: 'true or false' },
    ]);
    for (const odd of [
      { calendar_read: [5] },
      { calendar_read: [''] },
      { calendar_read: ['x'.repeat(1_001)] },
      { calendar_read: {} },
      { calendar_read: Array(1_001).fill('x') },
      { calendar_share: 1 },
    ])
      expect(
        (await problemsOf(readGrants(odd))).map(({ key }) => key),
        JSON.stringify(odd).slice(0, 60),
      ).to.deep.equal([`capabilities.${Object.keys(odd)[0]}`]);
  });

  it('is refused for a name that nobody declares, with the nearest that somebody does', async () => {
    const [near] = await problemsOf(readText('[capabilities]\ncalendar_raed = ["*"]\n'));
    expect(near).to.deep.equal({
      line: 2,
      key: 'capabilities.calendar_raed',
      message: 'capabilities.calendar_raed is not a key of agent.toml. Did you mean "calendar_read"?',
      expected: 'calendar_read',
    });
    const [far] = await problemsOf(readGrants({ payments_send: true }));
    expect(far?.message).to.equal('capabilities.payments_send is not a known capability: neither svc nor an installed extension declares it. Install the extension that does, or remove it');
  });

  it('grants nothing by a name that every object has', async () => {
    for (const name of ['__proto__', 'constructor', 'toString']) {
      const [problem] = await problemsOf(readGrants(JSON.parse(`{ "${name}": true }`)));
      expect(problem?.key, name).to.equal(`capabilities.${name}`);
    }
    expect(Object.prototype).to.not.have.property('calendar_share');
  });

  it('has the keys of the interface for itself', () => {
    // The area of peers declares its own.
    for (const key of Object.keys(CAPABILITY_KEYS).filter((one) => !one.startsWith('ofp_'))) expect(capabilityNameFault(key), key).to.equal("is the interface's own");
  });
});

describe('an agent with such grants', function () {
  this.timeout(30_000);
  let home: string;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'svc-declared-'));
  });
  afterEach(async () => {
    await stopTestKernels();
    await rm(home, { recursive: true });
  });

  const boot = (extra: Parameters<typeof bootTestKernel>[0] = {}): Promise<TestKernel> =>
    bootTestKernel({ home, config: `${OPEN_RATE}[extensions]\nenable = ["calendar"]\n`, extra: [calendar()], ...extra });
  const GRANTS = 'calendar_read = ["work/*"]\ncalendar_share = true\n';
  const spawn = (kernel: TestKernel, name: string, lines = GRANTS) => kernel.http.post('/api/agents', { manifest_toml: `name = "${name}"\n[capabilities]\n${lines}` });
  const shown = async (kernel: TestKernel, id: string) => (await kernel.http.expect(200, 'GET', `/api/agents/${id}`)).body.capabilities;

  it('is shown with them beside the interface’s own, and keeps them over a restart', async () => {
    const first = await boot();
    const { agent_id: id } = (await spawn(first, 'planner')).body;
    expect(await shown(first, id))
      .to.deep.include({ calendar_read: ['work/*'], calendar_share: true, file_system: true })
      .and.to.not.have.property('declared');
    await first.stop();

    expect(await shown(await boot(), id)).to.deep.include({ calendar_read: ['work/*'], calendar_share: true });
  });

  it('is made while the area is off, since its declarations are known', async () => {
    const kernel = await boot({ config: OPEN_RATE });
    expect(kernel.daemon.lifecycle.status('calendar').state).to.equal('inactive');
    const made = await spawn(kernel, 'planner');
    expect(made.status).to.equal(201);
    expect(await shown(kernel, made.body.agent_id)).to.deep.include({ calendar_read: ['work/*'] });
  });

  it('keeps them when the area has gone; only new grants of it are refused', async () => {
    const first = await boot();
    const { agent_id: id } = (await spawn(first, 'planner')).body;
    await first.stop();
    const without = await boot({ config: OPEN_RATE, extra: [] });
    expect(await shown(without, id)).to.deep.include({ calendar_read: ['work/*'], calendar_share: true });
    await without.http.expect(200, 'PUT', `/api/agents/${id}/suspend`);
    const refused = await spawn(without, 'another');
    expect([refused.status, refused.body.code, refused.body.details.problems.length]).to.deep.equal([400, 'agents_invalid_manifest', 2]);
    await without.stop();

    expect(await shown(await boot(), id), 'installed again').to.deep.include({ calendar_read: ['work/*'], calendar_share: true });
  });
});
