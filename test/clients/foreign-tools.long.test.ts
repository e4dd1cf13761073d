/** Clients that are too heavy for the suite, as they come from npm and PyPI, with tools of their own. Each is skipped by its name where it cannot be installed. */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { type ModelKernel, useModelKernel } from './model-kernel.js';

const exec = promisify(execFile);
const INSTALL_MS = 300_000;
const RUN_MS = 60_000;
const FLOWS = 'test/clients/foreign/flows';
const CALL = { toolCalls: [{ name: 'weather', args: { city: 'Oslo' } }] };
const ANSWER = { text: 'It rains in Oslo.' };
const MODELS = ['svc:assistant', 'svc:assistant:stateless'];

describe('foreign clients with tools of their own', function () {
  this.timeout(INSTALL_MS);
  const boot = useModelKernel();
  let folder = '';

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-foreign-tools-'));
    await cp(FLOWS, folder, { recursive: true });
    await writeFile(join(folder, 'package.json'), '{"private":true,"type":"module"}');
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const env = (svc: ModelKernel, more: Record<string, string>) => ({ PATH: process.env.PATH, HOME: folder, SVC_URL: svc.kernel.url, ...more });
  const run = async (command: string, args: readonly string[], variables: Record<string, string | undefined>): Promise<string> => {
    const running = exec(command, args, { cwd: folder, env: variables as NodeJS.ProcessEnv, timeout: RUN_MS, maxBuffer: 1e8 });
    // A command that reads its input waits for the end of it.
    running.child.stdin?.end();
    return (await running).stdout.trim();
  };
  const isInstalled = (command: string, args: readonly string[]): Promise<boolean> =>
    exec(command, args, { cwd: folder, timeout: INSTALL_MS, maxBuffer: 1e8 }).then(
      () => true,
      () => false,
    );
  const npm = (...packages: readonly string[]) => isInstalled('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', ...packages]);
  /** The model was offered the tool, and has read what it gave. */
  const expectUsed = ({ model }: ModelKernel): void => {
    const [first, second] = model.requests;
    expect(first?.body.tools.map((one: { function: { name: string } }) => one.function.name)).to.include('weather');
    expect(second?.body.messages.at(-1)).to.deep.include({ role: 'tool' });
    expect(JSON.stringify(second?.body.messages.at(-1).content)).to.contain('rain in Oslo');
    expect(model.requests).to.have.length(2);
  };

  describe('@openai/agents 0.20', () => {
    before(async function () {
      if (!(await npm('@openai/agents@0.20.0', 'openai@7', 'zod@4'))) this.skip();
    });
    for (const model of MODELS)
      for (const api of ['responses', 'chat'])
        for (const stream of ['0', '1'])
          it(`${api}${stream === '1' ? ', streamed' : ''}: ${model}`, async () => {
            const svc = await boot([CALL, ANSWER]);
            expect(await run(process.execPath, ['agents-tools.mjs'], env(svc, { SVC_MODEL: model, SVC_API: api, SVC_STREAM: stream }))).to.equal(ANSWER.text);
            expectUsed(svc);
          });
  });

  describe('Continue, through @continuedev/openai-adapters 1.37', () => {
    before(async function () {
      if (!(await npm('@continuedev/openai-adapters@1.37.0'))) this.skip();
    });
    for (const model of MODELS)
      it(`agent mode, streamed: ${model}`, async () => {
        const svc = await boot([CALL, ANSWER]);
        expect(await run(process.execPath, ['continue-tools.mjs'], env(svc, { SVC_MODEL: model }))).to.equal(ANSWER.text);
        expectUsed(svc);
      });
  });

  describe('llm 0.36 from PyPI', () => {
    before(async function () {
      const isThere = (await isInstalled('python3', ['-m', 'venv', join(folder, 'venv')])) && (await isInstalled(join(folder, 'venv/bin/pip'), ['install', '--quiet', 'llm==0.36']));
      if (!isThere) this.skip();
    });
    for (const model of MODELS)
      for (const stream of [true, false])
        it(`--functions${stream ? ', streamed' : ''}: ${model}`, async () => {
          const svc = await boot([CALL, ANSWER]);
          const user = join(folder, `llm-${MODELS.indexOf(model)}`);
          await mkdir(user, { recursive: true });
          await writeFile(join(user, 'extra-openai-models.yaml'), `- model_id: svc\n  model_name: "${model}"\n  api_base: "${svc.kernel.url}/v1"\n  supports_tools: true\n  can_stream: ${stream}\n`);
          const out = await run(
            join(folder, 'venv/bin/llm'),
            ['-m', 'svc', '--key', 'any', '--functions', 'llm_tools.py', ...(stream ? [] : ['--no-stream']), 'How is the weather in Oslo?'],
            env(svc, { LLM_USER_PATH: user }),
          );
          expect(out).to.contain(ANSWER.text);
          expectUsed(svc);
        });
  });
});
