/** Each kind of failure of a hook, found by one `svc plugins traces`. */
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { bootTestKernel, OPEN_RATE, releaseFile, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';

const OK = 'echo \'{"type":"ingest_result","memories":[]}\'';
/** What a script does, and how its trace names it. */
const FAILURES: Readonly<Record<string, readonly [script: string, kind: string]>> = {
  exits: [`${OK}; exit 1`, 'ScriptError'],
  silent: ['true', 'EmptyOutput'],
  talks: ['echo hello', 'InvalidOutput'],
  inside: ['echo \'result: {"type":"ingest_result"}\'', 'InvalidOutput'],
  notutf: ['printf \'"\\377"\\n\'', 'InvalidOutput'],
  huge: ['head -c 10000000 /dev/zero', 'OutputTooLarge'],
  flood: ['yes no >&2', 'OutputTooLarge'],
  endless: ["trap '' TERM; sleep 30", 'Timeout'],
};
/** What has no effect and is no failure: the note says why. */
const NOTES: Readonly<Record<string, readonly [script: string, note: string]>> = {
  number: [`${OK}; echo 100`, 'the response is the number 100 and no object'],
  other: ['echo \'{"type":"x"}\'', 'the response has the type "x"'],
};

describe('each kind of failure of a hook', function () {
  this.timeout(120_000);
  let kernel: TestKernel;
  let bin: string;
  const path = process.env.PATH;
  before(async () => {
    bin = await mkdtemp(join(tmpdir(), 'svc-launchers-'));
    // V is on few machines: this one answers as it does, and is taken away later.
    await writeFile(join(bin, 'v'), `#!/bin/sh\nif [ "$1" = --version ]; then echo "V 0.4.9"; else cat >/dev/null; ${OK}; fi\n`);
    await chmod(join(bin, 'v'), 0o755);
    process.env.PATH = `${bin}:${path}`;
    kernel = await bootTestKernel({ config: OPEN_RATE });
  });
  after(async () => {
    process.env.PATH = path;
    await stopTestKernels();
    await rm(bin, { recursive: true, force: true });
  });

  const make = async (name: string, runtime: string, script?: string): Promise<void> => {
    await kernel.http.expect(200, 'POST', '/api/plugins/scaffold', { name, runtime });
    const manifest = `${kernel.home}/plugins/${name}/plugin.toml`;
    await writeFile(manifest, (await readFile(manifest, 'utf8')).replace('# hook_timeout_secs = 30', 'hook_timeout_secs = 1'));
    if (script !== undefined) await writeFile(`${kernel.home}/plugins/${name}/hooks/ingest.sh`, `cat >/dev/null\n${script}\n`);
  };
  const run = async (name: string) => (await kernel.http.expect(200, 'POST', `/api/plugins/${name}/test-hook`)).body;
  const svc = async (...args: string[]): Promise<string> =>
    (
      await promisify(execFile)(process.execPath, [...process.execArgv, join(dirname(releaseFile()), 'cli/main.js'), ...args], {
        env: { PATH: path, HOME: kernel.home, SVC_HOME: kernel.home, SVC_PORT: String(kernel.daemon.port) },
        cwd: bin,
      })
    ).stdout;

  it('is found by svc plugins traces, a launcher that is taken away and a script that was changed after signing too', async () => {
    for (const [name, [script]] of [...Object.entries(FAILURES), ...Object.entries(NOTES)]) {
      await make(name, 'bash', script);
      await run(name);
    }
    await make('gone', 'v');
    expect((await run('gone')).success).to.equal(true);
    await rm(join(bin, 'v'));
    expect((await run('gone')).error).to.be.oneOf(['LauncherNotFound', 'ScriptError']);
    expect((await run('gone')).error).to.equal('LauncherNotFound');
    await make('signed', 'bash', OK);
    await kernel.http.expect(200, 'POST', '/api/plugins/signed/sign');
    await writeFile(`${kernel.home}/plugins/signed/hooks/ingest.sh`, 'echo changed\n');
    await run('signed');
    await make('missing', 'bash');
    await rm(`${kernel.home}/plugins/missing/hooks/ingest.sh`);
    await run('missing');
    const { traces } = JSON.parse(await svc('plugins', 'traces', '--failed', '--limit', '100', '--json'));
    const kinds = new Map(traces.map(({ plugin, error }: { plugin: string; error: string }) => [plugin, error]));
    for (const [name, [, kind]] of Object.entries(FAILURES)) expect(kinds.get(name), name).to.equal(kind);
    expect([kinds.get('gone'), kinds.get('signed'), kinds.get('missing')]).to.deep.equal(['LauncherNotFound', 'IntegrityError', 'ScriptNotFound']);
    const shown = await svc('plugins', 'traces', '--limit', '100', '--json');
    for (const [name, [, note]] of Object.entries(NOTES)) expect(shown, name).to.contain(JSON.stringify(note).slice(1, -1));
  });
});
