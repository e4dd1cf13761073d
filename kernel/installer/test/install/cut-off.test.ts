/** A process that is killed before any change of the disk leaves what was, or what was to be, and nothing between. */
import { execFile } from 'node:child_process';
import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { generateKey, type SigningKey } from '../../src/signing/keys.js';
import { filesBelow, type InstallRig, installRig } from './install-rig.js';

const run = promisify(execFile);
const program = fileURLToPath(new URL('./cut-off.program.js', import.meta.url));

describe('a change that is cut off', function () {
  this.timeout(180_000);
  let rig: InstallRig;
  let key: SigningKey;
  beforeEach(async () => {
    rig = await installRig();
    key = await generateKey();
  });
  afterEach(() => rig.done());

  /** What a store comes to when it is opened and validated, with the files that are left in it. */
  const settled = async (ext: string): Promise<string> => {
    const installer = await rig.open({ dir: ext });
    const { usable, refused } = await installer.validateAtBoot();
    const [record] = installer.records();
    return JSON.stringify({
      version: record?.version ?? null,
      previous: record?.previous.map(({ version }) => version) ?? [],
      usable: usable.map((one) => one.package.version),
      refused: refused.map(({ code }) => code),
      pins: installer.keys().flatMap(({ allow }) => allow),
      files: await filesBelow(ext),
    });
  };

  /** Runs the change on copies of the store, cut off at each of its steps; of many alike in a row at the first and the last. */
  const cutEverywhere = async (what: string, source = ''): Promise<{ readonly steps: readonly string[]; readonly states: ReadonlySet<string>; readonly before: string; readonly after: string }> => {
    const copy = async (name: string): Promise<string> => {
      const to = join(rig.root, name);
      await rm(to, { recursive: true, force: true });
      await cp(rig.ext, to, { recursive: true });
      return to;
    };
    const whole = await copy('whole');
    const { stdout } = await run(process.execPath, [program, what, source, whole]);
    const steps = stdout.split('\n');
    const telling = steps.flatMap((step, index) => (step === steps[index - 1] && step === steps[index + 1] ? [] : [index]));
    const [before, after] = [await settled(await copy('untouched')), await settled(whole)];
    const cuts = await Promise.all(telling.map(async (step) => [await copy(`cut-${step}`), String(step)]));
    const ended = await run(process.execPath, [program, what, source, whole, ...cuts.flat()]).catch((error: { signal?: string }) => error.signal);
    expect(ended).to.equal('SIGKILL');
    const states = new Set<string>();
    for (const [ext = ''] of cuts) states.add(await settled(ext));
    return { steps, states, before, after };
  };

  it('installs or does not', async () => {
    await rig.open();
    const { steps, states, before, after } = await cutEverywhere('install', await rig.pack({ key }));
    expect(steps).to.include.members(['mkdtemp staging', 'rename staging', 'rm transaction.json', 'rm staging']);
    expect([...states].sort()).to.deep.equal([before, after].sort());
  });

  it('upgrades or leaves what was', async () => {
    const installer = await rig.open();
    for (const version of ['1.0.0', '1.1.0', '1.2.0']) await rig.install(installer, { version, key });
    const { states, before, after } = await cutEverywhere('install', await rig.pack({ version: '2.0.0', key }));
    expect([...states].sort()).to.deep.equal([before, after].sort());
  });

  it('goes back or does not', async () => {
    const installer = await rig.open();
    for (const version of ['1.0.0', '1.1.0']) await rig.install(installer, { version, key });
    const { states, before, after } = await cutEverywhere('rollback');
    expect([...states].sort()).to.deep.equal([before, after].sort());
  });

  it('removes or does not', async () => {
    const installer = await rig.open();
    for (const version of ['1.0.0', '1.1.0']) await rig.install(installer, { version, key });
    const { states, before, after } = await cutEverywhere('remove');
    expect([...states].sort()).to.deep.equal([before, after].sort());
  });
});
