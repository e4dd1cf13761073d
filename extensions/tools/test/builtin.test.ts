import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AnyTool, Capabilities, ExecOptions, FetchInit, FetchResponse, ToolOutput } from '@svc/api';
import { systemClock } from '@svc/platform/clock/clock';
import { createExecAdapter } from '@svc/platform/adapters/child/exec-adapter';
import { openDir } from '@svc/platform/adapters/files/files-adapter';
import { expect } from 'chai';
import { fileTools } from '../src/builtin/file-tools.js';
import { shellTool } from '../src/builtin/shell-exec.js';
import { webFetchTool } from '../src/builtin/web-fetch.js';
import { createWorkspaces, type Workspaces } from '../src/builtin/workspace.js';
import pageText from '../src/workers/page-text.js';
import { AGENT, call } from './tools-kit.js';

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const context = { ...call('x', {}).call, signal: new AbortController().signal, log: silent };

const output = async (tool: AnyTool | undefined, args: Record<string, unknown>, grants: Partial<Capabilities> = {}): Promise<ToolOutput> => {
  if (!tool) throw new Error('no such tool');
  const result = await tool.run(args as never, { ...context, capabilities: { ...context.capabilities, ...grants } });
  return typeof result === 'string' ? { content: result } : result;
};
const messageOf = (work: Promise<unknown>): Promise<string> => work.then(String, (error: Error) => error.message);

describe('built-in tools', () => {
  let home: string;
  let workspaces: Workspaces;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'svc-tools-'));
    workspaces = createWorkspaces(openDir(home));
  });
  afterEach(() => rm(home, { recursive: true }));
  const tool = (name: string): AnyTool | undefined => fileTools(workspaces).find((one) => one.name === name);

  it('write, read and list files of the agent alone', async () => {
    await output(tool('file_write'), { path: 'notes/a.txt', content: 'one\ntwo\nthree' });
    expect((await output(tool('file_read'), { path: 'notes/a.txt' })).content).to.equal('one\ntwo\nthree');
    expect((await output(tool('file_read'), { path: join(home, AGENT, 'notes/a.txt'), offset: 2, limit: 1 })).content).to.equal('two\n[lines 2 to 2 of 3]');
    expect((await output(tool('file_list'), {})).content).to.equal('notes/');
    expect((await output(tool('file_list'), { recursive: true })).content).to.equal('notes/\nnotes/a.txt (13 bytes)');
    expect((await openDir(home).list()).map(({ name }) => name)).to.deep.equal([AGENT]);
  });

  it('refuse paths that lead out, and say what is missing', async () => {
    for (const path of ['../x', '/etc/passwd', 'a/../../x', `${home}/other`]) expect(await messageOf(output(tool('file_read'), { path })), path).to.match(/Path traversal denied/);
    expect(await messageOf(output(tool('file_write'), { path: '.', content: '' }))).to.match(/Path traversal denied/);
    expect(await messageOf(output(tool('file_read'), { path: 'none.txt' }))).to.match(/has no file "none.txt"/);
    expect((await output(tool('file_list'), {})).content).to.equal('[empty]');
  });

  it('run a command in the workspace and tell how it ended', async () => {
    const config = { get: () => undefined };
    const adapter = createExecAdapter({ config, registerDir: join(home, 'register'), env: { PATH: process.env.PATH }, clock: systemClock(), log: { ...silent, child: () => silent } as never });
    const shell = shellTool(workspaces, (command, args, options) => adapter.exec(command, args, options));
    const good = await output(shell, { command: 'echo hi > made.txt; cat made.txt; pwd' });
    expect(good.isError).to.equal(false);
    expect(good.content)
      .to.match(/^\[exit code 0, \d+ ms\]\nhi\n/)
      .and.include(AGENT);
    const bad = await output(shell, { command: 'echo oh >&2; exit 3' });
    expect(bad).to.include({ isError: true });
    expect(bad.content).to.match(/\[exit code 3.*\[stderr\]\noh/s);
    const late = await output(shell, { command: 'sleep 20', timeout_seconds: 1 });
    expect(late.content).to.match(/\[stopped after 1 s/);
    await adapter.close();
  });

  it('run a granted program itself, with its words as they are and nothing read by a shell', async () => {
    const adapter = createExecAdapter({
      config: { get: () => undefined },
      registerDir: join(home, 'register'),
      env: { PATH: process.env.PATH, SVC_API_KEY: 'the-owners-key', HOME: home },
      clock: systemClock(),
      log: { ...silent, child: () => silent } as never,
      home,
    });
    const shell = shellTool(workspaces, (command, args, options) => adapter.exec(command, args, options));
    const run = (command: string) => output(shell, { command }, { shell: ['printf *', 'env', 'cat *', 'pwd'] });
    expect((await run("printf '%s|' 'a b' \"c;d\" e\\ f '$HOME' ''")).content).to.match(/\na b\|c;d\|e f\|\$HOME\|\|(?:\n+\[no sandbox: [^\n]*\])?$/);
    expect((await run('pwd')).content).to.include(join(home, AGENT));
    expect((await run('env')).content)
      .to.include('GIT_PAGER=cat')
      .and.not.include('the-owners-key');
    expect(await messageOf(run('printf a | sh'))).to.match(/outside quotes/);
    expect(await messageOf(run('cd src'))).to.match(/There is no program "cd"/);
    await openDir(home).write('config.toml', 'api_key = "x"');
    expect(await messageOf(run('cat ../config.toml'))).to.match(/file of the daemon/);
    await adapter.close();
  });

  it('end a command when the policy of its manifest says so, and pass no variable it leaves out', async () => {
    const asked: ExecOptions[] = [];
    const done = { exitCode: 0, signal: null, stdout: '', stderr: '', truncated: false, timedOut: false, durationMs: 1 };
    const shell = shellTool(workspaces, async (_command, _args, options) => {
      asked.push(options);
      return done;
    });
    const exec = { mode: 'full', programs: null, env: ['LANG'], timeout_secs: 7, no_output_timeout_secs: 3, max_output_bytes: 100 } as const;
    await output(shell, { command: 'ls', timeout_seconds: 400 }, { exec });
    await output(shell, { command: 'ls', timeout_seconds: 2 }, { exec });
    expect(asked[0])
      .to.include({ timeoutMs: 7_000, idleTimeoutMs: 3_000, maxOutputBytes: 100 })
      .and.deep.include({ envNames: ['LANG'] });
    expect(asked[1]).to.include({ timeoutMs: 2_000 });
    expect(await messageOf(output(shell, { command: 'ls' }, { shell: ['ls'], exec: { ...exec, mode: 'deny' } }))).to.match(/granted no command/);
    expect(asked).to.have.length(2);
  });

  it('turn a page into text with its links, and leave scripts out', () => {
    const text = pageText({
      url: 'https://example.org/a/',
      maxChars: 50_000,
      html: '<html><head><title>t</title><style>x{}</style></head><body><nav>menu</nav><h1>Head</h1><p>Some <a href="b">link</a>.</p><script>alert(1)</script></body></html>',
    });
    expect(text).to.include('Head').and.include('link (https://example.org/a/b)');
    expect(text).not.to.match(/alert|menu|x\{\}/);
  });

  it("fetch with the agent's own hosts, cut long texts and show no bytes", async () => {
    const asked: FetchInit[] = [];
    const answer = (type: string, body: string, status = 200): FetchResponse => ({
      status,
      headers: { 'content-type': type },
      url: 'https://example.org/x',
      body: new Response(body).body as ReadableStream<Uint8Array>,
      each: async (take) => take(Buffer.from(body)),
      text: async () => body,
      json: async () => undefined,
      cancel: () => undefined,
    });
    const tool = (response: FetchResponse) =>
      webFetchTool({
        fetch: async (_url, init) => {
          asked.push(init);
          return response;
        },
        workers: { run: async () => Promise.reject(new Error('no page here')) },
        clock: systemClock(),
      });
    const url = 'https://example.org/x';
    expect((await output(tool(answer('application/json; charset=utf-8', '{"a":1}')), { url })).content).to.equal('[200 https://example.org/x]\n{"a":1}');
    expect(asked[0]).to.deep.include({ purpose: 'tool', allowHosts: ['*'] });
    expect((await output(tool(answer('image/png', 'PNG')), { url })).content).to.match(/image\/png: not text/);
    expect((await output(tool(answer('text/plain', 'x'.repeat(60_000))), { url })).content).to.match(/\[cut: 60000 characters in all\]$/);
    expect(await output(tool(answer('text/plain', 'gone', 410)), { url })).to.include({ isError: true });
  });
});
