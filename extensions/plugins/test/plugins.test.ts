/** Plugins over HTTP: made, found faulty, tested, signed, exported, installed and removed. No model is asked. */
import { createPublicKey, verify } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { bootTestKernel, OPEN_RATE, stopTestKernels, type TestHttp, type TestKernel } from '@svc/testing';
import { expect } from 'chai';

const RUNTIMES = ['python', 'native', 'v', 'node', 'deno', 'go', 'ruby', 'bash', 'bun', 'php', 'lua'];
/** Go compiles for too long for each run of the tests; its own claim is among the long ones. */
const QUICK = ['python', 'native', 'node', 'deno', 'ruby', 'bash', 'bun', 'php', 'lua'];
const SPKI = '302a300506032b6570032100';

const canonical = (value: unknown): string =>
  Array.isArray(value)
    ? `[${value.map(canonical).join(',')}]`
    : typeof value === 'object' && value !== null
      ? `{${Object.entries(value)
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([key, one]) => `${JSON.stringify(key)}:${canonical(one)}`)
          .join(',')}}`
      : JSON.stringify(value);

describe('plugins', function () {
  this.timeout(90_000);
  let kernel: TestKernel;
  let http: TestHttp;
  let folder: (name: string) => string;
  before(async () => {
    kernel = await bootTestKernel({ config: OPEN_RATE });
    http = kernel.http;
    folder = (name) => `${kernel.home}/plugins/${name}`;
  });
  after(() => stopTestKernels());

  const create = (name: string, runtime: string) => http.expect(200, 'POST', '/api/plugins/scaffold', { name, runtime, description: 'A plugin of the tests.' });
  const test = async (name: string, body: object = {}) => (await http.expect(200, 'POST', `/api/plugins/${name}/test-hook`, body)).body;
  const lint = async (name: string): Promise<{ ok: boolean; errors: string[]; warnings: string[] }> => (await http.expect(200, 'GET', `/api/plugins/${name}/lint`)).body;
  const script = async (name: string, text: string): Promise<void> => writeFile(`${folder(name)}/hooks/ingest.sh`, text);
  /** A bash plugin whose ingest is this. */
  const bash = async (name: string, text: string): Promise<void> => {
    await create(name, 'bash');
    await script(name, text);
  };

  it('L1 finds the launchers of eleven runtimes, and says how to get the others', async () => {
    const { body } = await http.expect(200, 'GET', '/api/plugins/doctor');
    expect(body.runtimes.map(({ runtime }: { runtime: string }) => runtime)).to.deep.equal(RUNTIMES);
    const of = (name: string) => body.runtimes.find(({ runtime }: { runtime: string }) => runtime === name);
    expect(of('native')).to.deep.include({ available: true, version: null });
    expect(of('bash').version).to.match(/^\d+\.\d+/);
    expect(of('node').version).to.equal(process.version.slice(1));
    for (const { install_hint: hint } of body.runtimes) expect(hint).to.be.a('string').and.not.equal('');
    expect(body.sandbox.enforced).to.be.a('boolean');
  });

  it('a plugin of each runtime answers as it was made, or says that its launcher is missing', async () => {
    const { body } = await http.expect(200, 'GET', '/api/plugins/doctor');
    const missing: string[] = [];
    for (const runtime of QUICK) {
      await create(`first-${runtime}`, runtime);
      expect((await lint(`first-${runtime}`)).errors, runtime).to.deep.equal([]);
      const ran = await test(`first-${runtime}`);
      if (body.runtimes.find((one: { runtime: string }) => one.runtime === runtime).available) {
        expect(ran, JSON.stringify(ran)).to.deep.include({ success: true, output: { type: 'ingest_result', memories: [] }, note: null });
        expect((await test(`first-${runtime}`, { hook: 'after_turn' })).output).to.deep.equal({ type: 'ok' });
      } else {
        missing.push(runtime);
        expect(ran).to.deep.include({ success: false, error: 'LauncherNotFound' });
        expect((await lint(`first-${runtime}`)).warnings.join('\n')).to.contain('is not on PATH');
      }
    }
    if (missing.length > 0) console.log(`      not on this machine: ${missing.join(', ')}`);
  });

  it('names are checked, an unknown runtime is refused, and other names of one count', async () => {
    expect((await http.expect(400, 'POST', '/api/plugins/scaffold', { name: '..', runtime: 'python' })).body.code).to.equal('invalid_request');
    expect((await http.expect(400, 'POST', '/api/plugins/scaffold', { name: 'odd', runtime: 'cobol' })).body.code).to.equal('plugins_bad_runtime');
    await http.expect(200, 'POST', '/api/plugins/scaffold', { name: 'alias', runtime: 'sh' });
    expect((await http.expect(200, 'GET', '/api/plugins/alias')).body.runtime).to.equal('bash');
    expect((await http.expect(409, 'POST', '/api/plugins/scaffold', { name: 'alias' })).body.code).to.equal('plugins_exists');
    for (const path of ['', '/status', '/health', '/env', '/export', '/lint']) expect((await http.expect(404, 'GET', `/api/plugins/nobody${path}`)).body.code).to.equal('plugins_not_found');
    for (const path of ['enable', 'disable', 'reload', 'sign', 'install-deps', 'test-hook'])
      expect((await http.expect(404, 'POST', `/api/plugins/nobody/${path}`)).body.code).to.equal('plugins_not_found');
  });

  const OUTPUTS: Readonly<Record<string, readonly [script: string, expected: object]>> = {
    'JSON first and logs behind it': ['echo \'{"type":"ingest_result","memories":[{"content":"a"}]}\'; echo a log; echo another', { success: true, line: 1, note: null }],
    'logs first': ['echo a log; echo \'{"type":"ingest_result","memories":[]}\'', { success: true, line: 2 }],
    'JSON inside a line': ['echo \'result: {"type":"ingest_result","memories":[]}\'', { success: false, error: 'InvalidOutput' }],
    'two lines of JSON': [
      'echo \'{"type":"ingest_result","memories":[]}\'; echo \'{"type":"other"}\'',
      { success: true, line: 2, note: 'the response has the type "other" instead of "ingest_result": it has no effect' },
    ],
    'a bare number': ['echo \'{"type":"ingest_result","memories":[]}\'; echo 100', { success: true, line: 2, output: 100, note: 'the response is the number 100 and no object: it has no effect' }],
    'no JSON': ['echo hello', { success: false, error: 'InvalidOutput' }],
    'nothing at all': ['true', { success: false, error: 'EmptyOutput' }],
    'invalid UTF-8': ['printf \'"\\377"\\n\'', { success: false, error: 'InvalidOutput' }],
    'no newline at the end': ['printf \'{"type":"ingest_result","memories":[]}\'', { success: true, line: 1 }],
    'exit 1 behind valid JSON': [
      'echo \'{"type":"ingest_result","memories":[]}\'; echo why >&2; exit 1',
      { success: false, error: 'ScriptError', exit_code: 1, message: 'it ended with the exit code 1: why' },
    ],
    '10 MB': ['head -c 10000000 /dev/zero | tr "\\0" x', { success: false, error: 'OutputTooLarge' }],
    'a flood on standard error': ['yes no >&2', { success: false, error: 'OutputTooLarge', message: 'it wrote more than 1 MiB to its standard error' }],
    'standard input closed at once': ['exec 0<&-; echo \'{"type":"ingest_result","memories":[]}\'', { success: true }],
    'a child that keeps standard output open': ['sleep 60 & echo \'{"type":"ingest_result","memories":[]}\'', { success: true, line: 1 }],
  };

  it('R1 R2 H2 H3 takes the last line that is JSON, and says why nothing came of it', async () => {
    await create('outputs', 'bash');
    for (const [what, [text, expected]] of Object.entries(OUTPUTS)) {
      await script('outputs', `${text}\n`);
      const ran = await test('outputs', { input: { message: 'x'.repeat(what.startsWith('standard input') ? 200_000 : 10) } });
      expect(ran, `${what}: ${JSON.stringify(ran).slice(0, 500)}`).to.deep.include(expected);
      expect(ran.elapsed_ms, what).to.be.lessThan(10_000);
    }
  });

  it('H1 ends the whole tree of a script that never ends, even if it ignores TERM, and says Timeout', async () => {
    await bash('endless', "trap '' TERM; (trap '' TERM; sleep 987.654) & sleep 987.654\n");
    const manifest = await readFile(`${folder('endless')}/plugin.toml`, 'utf8');
    await writeFile(`${folder('endless')}/plugin.toml`, manifest.replace('# hook_timeout_secs = 30', 'hook_timeout_secs = 1'));
    const ran = await test('endless');
    expect(ran).to.deep.include({ success: false, error: 'Timeout' });
    expect(ran.message).to.equal('Timeout: the hook ingest did not end within 1 s and was ended');
    expect(ran.elapsed_ms).to.be.within(900, 3_000);
    for (let tries = 0; tries < 100 && sleepers() > 0; tries++) await new Promise((resolve) => setTimeout(resolve, 100));
    expect(sleepers()).to.equal(0);
  });

  const sleepers = (): number =>
    execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
      .split('\n')
      .filter((line) => line === 'sleep 987.654').length;

  it('the input has type, agent_id, message and peer_id, and the end of the input comes', async () => {
    await bash(
      'echoes',
      'request=$(cat)\nprintf \'{"type":"ingest_result","memories":[{"content":"%s"}],"env":"%s %s","got":%s}\\n\' "$SVC_RUNTIME" "$SVC_MESSAGE" "$(printenv HTTP_PROXY || echo none)" "$request"\n',
    );
    const { output } = await test('echoes', { input: { message: 'hello there', peer_id: '4711', agent_id: 'me' } });
    expect(output.got).to.deep.equal({ type: 'ingest', agent_id: 'me', message: 'hello there', peer_id: '4711' });
    expect(output.env).to.equal('hello there none');
    const none = await test('echoes');
    expect(none.output.got.peer_id).to.equal(null);
  });

  it('F2 does not run a script that is a link out of its folder, or a path outside', async () => {
    await create('linked', 'bash');
    const path = `${folder('linked')}/hooks/ingest.sh`;
    await writeFile(`${kernel.home}/outside.sh`, 'echo 1\n');
    execFileSync('rm', [path]);
    await symlink(`${kernel.home}/outside.sh`, path);
    expect(await test('linked')).to.deep.include({ success: false, error: 'PathTraversal' });
    const toml = await readFile(`${folder('linked')}/plugin.toml`, 'utf8');
    await writeFile(`${folder('linked')}/plugin.toml`, toml.replace('"hooks/ingest.sh"', '"../../outside.sh"'));
    expect(await test('linked')).to.deep.include({ success: false, error: 'PathTraversal' });
    await writeFile(`${folder('linked')}/plugin.toml`, toml.replace('"hooks/ingest.sh"', '"hooks/nothing.sh"'));
    expect(await test('linked')).to.deep.include({ success: false, error: 'ScriptNotFound' });
    expect((await lint('linked')).errors).to.deep.equal(['ingest: there is no file hooks/nothing.sh']);
    const { body } = await http.expect(200, 'GET', '/api/plugins?has_errors=true');
    expect(body.plugins.map(({ name }: { name: string }) => name)).to.include('linked');
  });

  it('lint names keys in the wrong place, unknown ones and what is not kept', async () => {
    await create('messy', 'bash');
    await writeFile(
      `${folder('messy')}/plugin.toml`,
      'name = "other"\nruntime = "bash"\ncolour = "red"\n[env]\nLD_PRELOAD = "x"\n[hooks]\ningest = "hooks/ingest.sh"\ningest_filtre = "x"\nneeds = ["magic"]\nhook_timeout_secs = 90\nallowed_secrets = ["A"]\notel_endpoint = "http://x"\non_hook_failure = "panic"\n',
    );
    const { ok, errors, warnings } = await lint('messy');
    expect(ok).to.equal(false);
    expect(errors.join('\n')).to.match(
      /name is "other".*hook_timeout_secs is 90; it counts as 30.*allowed_secrets is not supported.*otel_endpoint is not supported.*on_hook_failure is "panic".*LD_PRELOAD is refused/s,
    );
    expect(warnings.join('\n')).to.match(
      /version is empty.*runtime stands at the top.*needs stands under \[hooks\].*colour is not a key.*ingest_filtre is not a key of plugin.toml; did you mean ingest_filter\?.*needs: "magic"/s,
    );
    await writeFile(`${folder('messy')}/plugin.toml`, 'name = [\n');
    expect((await lint('messy')).errors[0]).to.contain('plugin.toml cannot be read');
    expect((await http.expect(200, 'GET', '/api/plugins/messy')).body.fault).to.be.a('string');
  });

  it('G1 G2 a signature is verified by node:crypto from the export, and a changed hook is not run', async () => {
    await bash('signed', 'cat > /dev/null; echo \'{"type":"ingest_result","memories":[]}\'\n');
    const { body } = await http.expect(200, 'POST', '/api/plugins/signed/sign');
    expect(body).to.deep.include({ signed: true, algorithm: 'ed25519', count: 2 });
    const exported = (await http.expect(200, 'GET', '/api/plugins/signed/export')).body;
    const { signature, ...rest } = exported.manifest;
    const key = createPublicKey({ key: Buffer.concat([Buffer.from(SPKI, 'hex'), Buffer.from(signature.public_key, 'base64')]), format: 'der', type: 'spki' });
    expect(verify(null, Buffer.from(canonical(rest)), key, Buffer.from(signature.value, 'base64'))).to.equal(true);
    await verifiedByOpenssl(canonical(rest), signature);
    expect(await readFile(`${folder('signed')}/plugin.toml`, 'utf8')).to.contain('# before each message');
    expect((await test('signed')).success).to.equal(true);
    await script('signed', 'echo 1\n');
    expect(await test('signed')).to.deep.include({ success: false, error: 'IntegrityError' });
    expect((await http.expect(200, 'GET', '/api/plugins/signed')).body).to.deep.include({ hooks_valid: false, integrity_count: 2 });
    await http.expect(200, 'POST', '/api/plugins/signed/sign');
    expect((await test('signed')).output).to.equal(1);
    const toml = await readFile(`${folder('signed')}/plugin.toml`, 'utf8');
    await writeFile(`${folder('signed')}/plugin.toml`, toml.replace('0.1.0', '0.2.0'));
    expect((await lint('signed')).errors).to.include('plugin.toml was changed after it was signed');
  });

  const verifiedByOpenssl = async (text: string, { public_key: key, value }: { public_key: string; value: string }): Promise<void> => {
    const at = `${kernel.home}/openssl`;
    await mkdir(at);
    await writeFile(`${at}/text`, text);
    await writeFile(`${at}/signature`, Buffer.from(value, 'base64'));
    await writeFile(`${at}/key.der`, Buffer.concat([Buffer.from(SPKI, 'hex'), Buffer.from(key, 'base64')]));
    execFileSync('openssl', ['pkeyutl', '-verify', '-pubin', '-keyform', 'DER', '-inkey', `${at}/key.der`, '-rawin', '-in', `${at}/text`, '-sigfile', `${at}/signature`]);
  };

  it('F3 the export has its files, as JSON and as an archive, and nothing that svc put there', async () => {
    await create('packed', 'bash');
    await test('packed');
    const { body } = await http.expect(200, 'GET', '/api/plugins/packed/export');
    expect(body.files.map(({ path }: { path: string }) => path)).to.deep.equal(['hooks/after_turn.sh', 'hooks/ingest.sh', 'plugin.toml']);
    // Without a sandbox the daemon asks for a key.
    const answer = await http.raw('GET', '/api/plugins/packed/export?format=tar', undefined);
    expect(answer.headers.get('content-type')).to.equal('application/gzip');
    expect(gunzipSync(Buffer.from(await answer.arrayBuffer())).toString('latin1'))
      .to.contain('packed/hooks/ingest.sh')
      .and.contain('packed/plugin.toml')
      .and.not.contain('.cache');
  });

  it('I1 I2 installs a folder and a git repository, with consent for what it wants, and nothing with a link', async () => {
    const from = `${kernel.home}/from`;
    await mkdir(`${from}/hooks`, { recursive: true });
    const manifest = 'name = "fetched"\nversion = "1.0.0"\ndescription = "x"\nauthor = "y"\n[hooks]\nruntime = "bash"\ningest = "hooks/ingest.sh"\nallow_network = true\n';
    await writeFile(`${from}/plugin.toml`, manifest);
    await writeFile(`${from}/hooks/ingest.sh`, '#!/bin/bash\ncat >/dev/null\necho \'{"type":"ingest_result","memories":[]}\'\n');
    await chmod(`${from}/hooks/ingest.sh`, 0o755);
    const local = { source: 'local', path: from };
    expect((await http.expect(400, 'POST', '/api/plugins/install', local)).body.code).to.equal('plugins_needs_consent');
    const { body } = await http.expect(200, 'POST', '/api/plugins/install', { ...local, grant: ['network'] });
    expect(body).to.deep.include({ installed: true, name: 'fetched', version: '1.0.0', granted: ['network'], restart_required: true });
    expect((await http.expect(200, 'GET', '/api/plugins/fetched/status')).body.walls.network).to.equal('lowered');
    expect((await http.expect(200, 'GET', '/api/plugins/fetched')).body).to.deep.include({ source: from, digest: body.digest });
    expect((await http.expect(409, 'POST', '/api/plugins/install', { ...local, grant: ['network'] })).body.code).to.equal('plugins_exists');
    await http.expect(200, 'POST', '/api/plugins/uninstall', { name: 'fetched' });
    await http.expect(404, 'GET', '/api/plugins/fetched');
    const git = (...args: string[]) => execFileSync('git', ['-C', from, '-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], { stdio: 'pipe' });
    git('init', '-q', '-b', 'main');
    await writeFile(`${from}/plugin.toml`, manifest.replace('allow_network = true\n', ''));
    git('add', '.');
    git('commit', '-q', '-m', 'x');
    expect((await http.expect(200, 'POST', '/api/plugins/install', { source: 'git', url: `file://${from}`, branch: 'main' })).body).to.deep.include({ name: 'fetched', granted: [] });
    expect((await test('fetched')).success).to.equal(true);
    await http.expect(200, 'POST', '/api/plugins/uninstall', { name: 'fetched' });
    await symlink('/etc/passwd', `${from}/hooks/passwd`);
    expect((await http.expect(400, 'POST', '/api/plugins/install', local)).body.code).to.equal('plugins_bad_plugin');
    for (const more of [{}, { source: 'local' }, { source: 'git' }, { source: 'local', path: '/nowhere/at/all' }, { source: 'git', url: 'file:///nowhere/at/all' }])
      expect((await http.expect(400, 'POST', '/api/plugins/install', more)).body.code, JSON.stringify(more)).to.equal('plugins_bad_source');
    expect((await http.expect(404, 'POST', '/api/plugins/install', { name: 'x' })).body.code).to.equal('plugins_no_registry');
    expect((await http.expect(404, 'POST', '/api/plugins/uninstall', { name: 'x' })).body.code).to.equal('plugins_not_found');
  });

  it('W3 shows variables without secrets, and takes no variable of the daemon that is not let through', async () => {
    await bash('vars', 'cat >/dev/null; printf \'{"type":"ingest_result","memories":[],"seen":"%s|%s|%s"}\\n\' "$PLAIN" "$TAKEN" "$OPENAI_API_KEY"\n');
    const toml = await readFile(`${folder('vars')}/plugin.toml`, 'utf8');
    await writeFile(
      `${folder('vars')}/plugin.toml`,
      `${toml}\n[env]\nPLAIN = "yes"\nMY_TOKEN = "hidden words"\nTAKEN = "\${OPENAI_API_KEY}"\n[hooks.env_schema]\nTAKEN = "!a key"\nPLAIN = "a word"\n`,
    );
    const { body } = await http.expect(200, 'GET', '/api/plugins/vars/env');
    expect(body.env).to.deep.equal({ PLAIN: 'yes', MY_TOKEN: '***', TAKEN: `$${'{OPENAI_API_KEY}'}` });
    expect(body.env_schema).to.deep.equal({ TAKEN: { description: 'a key', required: true, present: false }, PLAIN: { description: 'a word', required: false, present: true } });
    expect((await test('vars')).output.seen).to.equal('yes||');
  });

  it('W1 a hook sees its own folder alone, cannot write to it, and has no network', async function () {
    const { enforced } = (await http.expect(200, 'GET', '/api/plugins/doctor')).body.sandbox;
    if (!enforced) return this.skip();
    await bash(
      'walled',
      `cat >/dev/null
a=$(cat ${kernel.home}/config.toml 2>/dev/null | head -c 5)
b=$(echo x > hooks/new 2>/dev/null && echo wrote)
c=$(echo x > .cache/new 2>/dev/null && echo wrote)
d=$( (exec 3<>/dev/tcp/127.0.0.1/${new URL(kernel.url).port}) 2>/dev/null && echo net)
printf '{"type":"ingest_result","memories":[],"seen":"%s|%s|%s|%s"}\\n' "$a" "$b" "$c" "$d"
`,
    );
    const ran = await test('walled');
    expect(ran.walls).to.equal('enforced');
    expect(ran.output.seen).to.equal('||wrote|');
  });

  it('T1 each call leaves a trace without secrets, and failures are found in one request', async () => {
    await bash('talks', 'cat >/dev/null; echo "token=abcdefgh1234 sk-abcdefghij0123456789" >&2; exit 3\n');
    await test('talks', { input: { message: 'my key is sk-abcdefghij0123456789' } });
    const { body } = await http.expect(200, 'GET', '/api/context-engine/traces?failed=true&plugin=talks');
    expect(body.traces[0]).to.deep.include({ plugin: 'talks', hook: 'ingest', success: false, error: 'ScriptError', exit_code: 3 });
    expect(JSON.stringify(body)).to.not.contain('abcdefgh');
    const health = (await http.expect(200, 'GET', '/api/plugins/talks/health')).body;
    expect(health.hook_stats.ingest).to.deep.include({ calls: 1, errors: 1, error_rate_pct: 100 });
    expect(health.recent_traces).to.have.length(1);
  });

  it('is enabled, disabled, reloaded and prewarmed; what has no dependencies says so', async () => {
    await create('switched', 'bash');
    expect((await http.expect(200, 'POST', '/api/plugins/switched/disable')).body).to.deep.include({ enabled: false });
    expect((await http.expect(200, 'GET', '/api/plugins?enabled=false')).body.plugins.map(({ name }: { name: string }) => name)).to.deep.equal(['switched']);
    expect((await http.expect(200, 'POST', '/api/plugins/switched/enable')).body).to.deep.include({ enabled: true, name: 'switched' });
    expect((await http.expect(200, 'POST', '/api/plugins/switched/reload')).body).to.deep.include({ hooks_valid: true, processes_evicted: 0 });
    const { results } = (await http.expect(200, 'POST', '/api/plugins/prewarm', { plugins: ['switched', 'nobody'] })).body;
    expect([results.switched.ok, results.nobody.ok]).to.deep.equal([true, false]);
    expect((await http.expect(400, 'POST', '/api/plugins/switched/install-deps')).body.code).to.equal('plugins_no_dependencies');
    expect((await http.expect(200, 'GET', '/api/plugins/registries')).body).to.deep.equal({ registries: [], total: 0 });
  });
});
