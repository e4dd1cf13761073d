/** The tools for files, patches and the clock, on a real folder. */
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AnyTool, type Capabilities, type Dir, type ExecOptions, type ExecResult, type Need, needsOf, type ToolOutput } from '@svc/api';
import { virtualClock } from '@svc/platform/clock/clock';
import { openDir } from '@svc/platform/adapters/files/files-adapter';
import { expect } from 'chai';
import { applyPatchTool } from '../src/builtin/apply-patch.js';
import { builtinTools } from '../src/builtin/builtin-tools.js';
import { fileTools } from '../src/builtin/file-tools.js';
import { shellTool } from '../src/builtin/shell-exec.js';
import { createWorkspaces, MAX_TEXT_BYTES, pathIn, readText, type Workspaces } from '../src/builtin/workspace.js';
import { AGENT, call } from './tools-kit.js';

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const context = { ...call('x', {}).call, signal: new AbortController().signal, log: silent };
const run = async (tool: AnyTool | undefined, args: object, grants: Partial<Capabilities> = {}): Promise<ToolOutput> => {
  if (!tool) throw new Error('no such tool');
  // The tests name arguments that fit.
  const result = await tool.run(args as never, { ...context, capabilities: { ...context.capabilities, ...grants } });
  return typeof result === 'string' ? { content: result } : result;
};
const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'nothing',
    (error: { code?: string }) => error.code ?? String(error),
  );

describe('tools of a workspace', () => {
  let home: string;
  let dir: Dir;
  let workspaces: Workspaces;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'svc-workspace-'));
    dir = openDir(home).dir(AGENT);
    workspaces = createWorkspaces(openDir(home));
  });
  afterEach(() => rm(home, { recursive: true }));
  const tool = (name: string): AnyTool | undefined => [...fileTools(workspaces), applyPatchTool(workspaces)].find((one) => one.name === name);
  /** With a target: what is needed as a whole comes from the tool's `capabilities`. */
  const needs = (name: string, args: Readonly<Record<string, unknown>>): readonly Need[] => {
    const found = tool(name);
    return found ? needsOf({ ...found, capabilities: [] }, args) : [];
  };
  const text = async (name: string, args: object): Promise<string> => (await run(tool(name), args)).content;

  it('say what they risk, whether they may be repeated, and whether two may run at once', () => {
    const facts = [...fileTools(workspaces), applyPatchTool(workspaces)].map(({ name, risk, replay, parallel, capabilities }) => `${name} ${risk} ${replay} ${parallel} ${capabilities?.join()}`);
    expect(facts).to.deep.equal([
      'file_read read safe true file_system',
      'file_write write safe false file_system',
      'file_list read safe true file_system',
      'apply_patch write never false file_system',
    ]);
  });

  it('read a part of a file by its lines, and say which part it is', async () => {
    await dir.write('a.txt', 'one\ntwo\nthree\nfour');
    const read = (part: object) => text('file_read', { path: 'a.txt', ...part });
    expect(await read({})).to.equal('one\ntwo\nthree\nfour');
    expect(await read({ offset: 3 })).to.equal('three\nfour\n[lines 3 to 4 of 4]');
    expect(await read({ limit: 2 })).to.equal('one\ntwo\n[lines 1 to 2 of 4]');
    expect(await read({ offset: 2, limit: 2 })).to.equal('two\nthree\n[lines 2 to 3 of 4]');
    expect(await read({ offset: 4, limit: 9 })).to.equal('four\n[lines 4 to 4 of 4]');
    expect(await read({ offset: 5 })).to.equal('[the file has 4 lines; none from 5 on]');
  });

  it('keep a file as it is, byte-order mark and all, and read no file that is none', async () => {
    await dir.write('mark.txt', '\uFEFFa');
    expect(await text('file_read', { path: 'mark.txt' })).to.equal('\uFEFFa');
    await dir.write('bytes', new Uint8Array([0xff, 0xfe, 0x00]));
    expect(await codeOf(text('file_read', { path: 'bytes' }))).to.equal('tools_not_text');
    await mkdir(join(home, AGENT, 'folder'));
    expect(await codeOf(text('file_read', { path: 'folder' }))).to.equal('tools_not_text');
    expect(await codeOf(text('file_read', { path: 'none' }))).to.equal('tools_no_file');
  });

  it('read files up to four MiB', async () => {
    await dir.write('full', new Uint8Array(MAX_TEXT_BYTES).fill(97));
    expect(await readText(dir, 'full')).to.have.length(4 * 1024 * 1024);
    await dir.write('more', new Uint8Array(MAX_TEXT_BYTES + 1).fill(97));
    expect(await codeOf(readText(dir, 'more'))).to.equal('tools_file_too_large');
    expect(await readText(dir, 'none')).to.equal(undefined);
  });

  it('write a file where it was meant, tell its bytes, and name what they will write beforehand', async () => {
    expect(await text('file_write', { path: './sub/../a.txt'.replace('sub/../', ''), content: 'ü' })).to.equal('Wrote 2 bytes to a.txt.');
    expect(await readFile(join(home, AGENT, 'a.txt'), 'utf8')).to.equal('ü');
    expect(needs('file_write', { path: 'b.txt', content: '' })).to.deep.equal([{ capability: 'file_system', target: 'b.txt' }]);
    for (const path of ['.', 'sub/', './']) expect(await codeOf(text('file_write', { path, content: '' })), path).to.equal('tools_path_denied');
  });

  it('list a folder in order, and say so when it is empty, none, or a file', async () => {
    await dir.write('b.txt', '12');
    await dir.write('a/c.txt', '');
    expect(await text('file_list', {})).to.equal('a/\nb.txt (2 bytes)');
    expect(await text('file_list', { path: 'a' })).to.equal('c.txt (0 bytes)');
    expect(await text('file_list', { path: '.', recursive: true })).to.equal('a/\na/c.txt (0 bytes)\nb.txt (2 bytes)');
    await dir.remove('a/c.txt');
    await mkdir(join(home, AGENT, 'empty'));
    expect(await text('file_list', { path: 'empty' })).to.equal('[empty]');
    expect(await codeOf(text('file_list', { path: 'none' }))).to.equal('tools_no_file');
    expect(await codeOf(text('file_list', { path: 'b.txt' }))).to.equal('tools_not_a_folder');
  });

  it('list a thousand entries and say that there may be more', async () => {
    await mkdir(join(home, AGENT, 'many'), { recursive: true });
    for (let number = 0; number < 999; number++) await writeFile(join(home, AGENT, 'many', `f${number}`), '');
    expect(await text('file_list', { path: 'many' })).not.to.contain('only the first');
    for (const more of ['x', 'y']) await writeFile(join(home, AGENT, 'many', more), '');
    const lines = (await text('file_list', { path: 'many' })).split('\n');
    expect(lines).to.have.length(1_001);
    expect(lines.at(-1)).to.match(/only the first 1000 are shown/);
  });

  it('take a path as models write it, and none that leads out', () => {
    const root = { path: '/srv/ws' };
    const good: Array<readonly [string, string]> = [
      ['a.txt', 'a.txt'],
      ['./a//b.txt', 'a/b.txt'],
      ['/srv/ws/a.txt', 'a.txt'],
      ['/srv/ws', '.'],
      ['/srv/ws/', '.'],
      ['.', '.'],
      ['a/', 'a/'],
      ['..a/b..', '..a/b..'],
      ['ab:c', 'ab:c'],
    ];
    for (const [path, expected] of good) expect(pathIn(root, path), path).to.equal(expected);
    for (const path of ['..', 'a/..', 'a/../b', '..\\b', 'a\\..\\b', '/etc/passwd', '/srv/wsx/a', '/srv/ws/../x', '\\\\host\\a', 'C:\\a', 'c:a', 'a\0b'])
      expect(() => pathIn(root, path), JSON.stringify(path)).to.throw(/Path traversal denied/);
  });

  it('follow no link that leads out', async () => {
    await writeFile(join(home, 'secret'), 'x');
    await dir.write('a.txt', '');
    await symlink(join(home, 'secret'), join(home, AGENT, 'link'));
    expect(await codeOf(text('file_read', { path: 'link' }))).not.to.equal('nothing');
  });

  it('make the folder of a process once, and leave nothing in it', async () => {
    const made = await workspaces.made({ agentId: AGENT });
    expect(made.path).to.equal(join(home, AGENT));
    expect(await made.list()).to.deep.equal([]);
    await dir.write('.first-use', 'mine');
    await workspaces.made({ agentId: AGENT });
    expect(await dir.readText('.first-use')).to.equal('mine');
  });

  describe('by patch', () => {
    const patch = (...lines: string[]): { patch: string } => ({ patch: ['*** Begin Patch', ...lines, '*** End Patch'].join('\n') });

    it('tell what became of each file, and ask for one snapshot of them all', async () => {
      await dir.write('old.txt', 'a\n');
      await dir.write('gone.txt', 'x\n');
      await dir.write('here.txt', 'a\n');
      const done = await text(
        'apply_patch',
        patch('*** Add File: new.txt', '+n', '*** Update File: old.txt', '@@', '-a', '+b', '*** Delete File: gone.txt', '*** Update File: here.txt', '*** Move to: there.txt'),
      );
      expect(done).to.equal('Added new.txt\nUpdated old.txt\nDeleted gone.txt\nDeleted here.txt\nAdded there.txt');
      expect(await dir.readText('there.txt')).to.equal('a\n');
    });

    it('change nothing, and ask for no snapshot, where the files are so already', async () => {
      await dir.write('a.txt', 'a\n');
      expect(await text('apply_patch', patch('*** Update File: a.txt', '@@', '-a', '+a'))).to.match(/nothing was changed/);
      expect(await text('apply_patch', patch('*** Add File: b.txt', '+b', '*** Delete File: b.txt'))).to.match(/nothing was changed/);
    });

    it('see in a later section what an earlier one made', async () => {
      await dir.write('a.txt', 'one\ntwo\n');
      await text(
        'apply_patch',
        patch('*** Update File: a.txt', '@@', '-one', '+1', '*** Update File: a.txt', '@@', '-two', '+2', '*** Add File: b.txt', '+x', '*** Update File: b.txt', '@@', '-x', '+y'),
      );
      expect([await dir.readText('a.txt'), await dir.readText('b.txt')]).to.deep.equal(['1\n2\n', 'y\n']);
      expect(await codeOf(text('apply_patch', patch('*** Delete File: a.txt', '*** Delete File: a.txt')))).to.equal('tools_patch_conflict');
      expect(await text('apply_patch', patch('*** Delete File: a.txt', '*** Add File: a.txt', '+new'))).to.equal('Updated a.txt');
    });

    it('move a file onto itself as if it stayed', async () => {
      await dir.write('a.txt', 'a\n');
      expect(await text('apply_patch', patch('*** Update File: a.txt', '*** Move to: ./a.txt', '@@', '-a', '+b'))).to.equal('Updated a.txt');
    });

    it('refuse a folder as a file', async () => {
      for (const path of ['.', 'a/']) expect(await codeOf(text('apply_patch', patch(`*** Add File: ${path}`, '+x'))), path).to.equal('tools_path_denied');
    });

    it('name every file that they would write, also where one moves, and none when nobody can read them', () => {
      const writes = (args: { patch: string }) => needs('apply_patch', args).map(({ target }) => target);
      expect(writes(patch('*** Add File: a', '+x', '*** Update File: b', '*** Move to: c', '*** Update File: d', '@@', '-x', '+y', '*** Delete File: e'))).to.deep.equal(['a', 'b', 'c', 'd', 'e']);
      expect(writes({ patch: 'no patch' })).to.deep.equal([]);
    });
  });

  describe('by command', () => {
    const plain: ExecResult = { exitCode: 0, signal: null, stdout: '', stderr: '', truncated: false, timedOut: false, durationMs: 12.4 };
    const shell = (done: Partial<ExecResult> = {}) => {
      const asked: Array<{ program: string; args: readonly string[]; options: ExecOptions }> = [];
      const exec = async (program: string, args: readonly string[], options: ExecOptions): Promise<ExecResult> => {
        asked.push({ program, args, options });
        return { ...plain, ...done };
      };
      return { asked, tool: shellTool(workspaces, exec) };
    };

    it('tell how it ended before what it said', async () => {
      const said = async (done: Partial<ExecResult>) => run(shell(done).tool, { command: 'x' });
      expect(await said({ stdout: 'out' })).to.deep.equal({ content: '[exit code 0, 12 ms]\nout', isError: false });
      expect(await said({ stdout: 'out', stderr: 'err', exitCode: 2 })).to.deep.equal({ content: '[exit code 2, 12 ms]\nout\n[stderr]\nerr', isError: true });
      expect(await said({ exitCode: null, signal: 'SIGKILL' })).to.deep.equal({ content: '[ended by signal SIGKILL, 12 ms]', isError: true });
      expect(await said({ exitCode: null })).to.deep.equal({ content: '[ended by signal unknown, 12 ms]', isError: true });
      expect(await said({ exitCode: 0, timedOut: true, durationMs: 5_900 })).to.deep.equal({ content: '[stopped after 5 s, 5900 ms]', isError: true });
      expect((await said({ timedOut: true, durationMs: 61_000 })).content).to.match(/^\[stopped after 60 s/);
      expect(await said({ exitCode: 137, exceeded: 'more than 8 MB' })).to.deep.equal({ content: '[stopped: it used more than 8 MB, 12 ms]', isError: true });
      expect((await said({ sandbox: { isOn: true } })).content).to.equal('[exit code 0, 12 ms]');
      expect((await said({ sandbox: { isOn: false, cause: 'bubblewrap is not installed', fix: 'x' } })).content).to.match(
        /^\[no sandbox: bubblewrap is not installed\. This command ran as the user of the daemon/m,
      );
      expect((await said({ stdout: 'a', truncated: true })).content).to.match(/a\n\[the output was longer/);
    });

    it('run in the workspace, for a minute unless asked otherwise, with the call’s own key and signal', async () => {
      const { asked, tool: one } = shell();
      await run(one, { command: 'ls | wc' });
      expect(asked[0]).to.deep.include({ program: '/bin/sh', args: ['-c', 'ls | wc'] });
      expect(asked[0]?.options).to.deep.equal({ cwd: join(home, AGENT), timeoutMs: 60_000, signal: context.signal, ownerKey: 'c1', maxOutputBytes: 48 * 1024, agent: { hosts: ['*'], mounts: [] } });
      await run(one, { command: 'ls', timeout_seconds: 600 });
      expect(asked[1]?.options.timeoutMs).to.equal(600_000);
      expect(one).to.include({ timeoutMs: 610_000, risk: 'exec', replay: 'never', parallel: false });
    });

    it('run one granted program with its words, with nobody at the terminal, and keep it from the daemon’s own files', async () => {
      const { asked, tool: one } = shell();
      await run(one, { command: "git log 'a b'" }, { shell: ['git *'] });
      expect(asked[0]).to.deep.include({ program: 'git', args: ['log', 'a b'] });
      const { guardsOwnFiles, env = {} } = asked[0]?.options ?? {};
      expect(guardsOwnFiles).to.equal(true);
      const config = Object.fromEntries(Array.from({ length: Number(env.GIT_CONFIG_COUNT) }, (_, index) => [env[`GIT_CONFIG_KEY_${index}`], env[`GIT_CONFIG_VALUE_${index}`]]));
      expect(config).to.deep.equal({ 'core.hooksPath': '/dev/null', 'core.fsmonitor': 'false', 'protocol.ext.allow': 'never', 'safe.bareRepository': 'explicit' });
      expect(env).to.include({ PAGER: 'cat', GIT_PAGER: 'cat', GIT_EDITOR: ':', GIT_SEQUENCE_EDITOR: ':', GIT_TERMINAL_PROMPT: '0', GIT_SSH_COMMAND: 'ssh -oBatchMode=yes' });
    });

    it('give no more output than the least of what is asked and the daemon’s own limit', async () => {
      const exec = { mode: 'full', programs: null, env: null, timeout_secs: null, no_output_timeout_secs: null, max_output_bytes: 1_000_000 } as const;
      const { asked, tool: one } = shell();
      await run(one, { command: 'ls' }, { exec });
      expect(asked[0]?.options).to.include({ maxOutputBytes: 48 * 1024, timeoutMs: 60_000 });
      expect(asked[0]?.options).not.to.have.any.keys('idleTimeoutMs', 'envNames');
    });

    it('are refused where nothing is granted, and where only a shell could read them', async () => {
      const { asked, tool: one } = shell();
      expect(await codeOf(run(one, { command: 'ls' }, { shell: [] }))).to.equal('tools_not_offered');
      expect(await codeOf(run(one, { command: 'ls | wc' }, { shell: ['ls *'] }))).to.equal('tools_bad_arguments');
      expect(asked).to.deep.equal([]);
    });
  });

  it('are all there, with the time of now', async () => {
    const clock = virtualClock(Date.parse('2026-03-10T23:30:00Z'));
    const workers = { run: () => Promise.reject(new Error('no page here')) };
    const tools = builtinTools({
      clock,
      workers,
      // The clock asks for none of these.
      files: { root: () => openDir(home) } as never,
      exec: async () => Promise.reject(new Error('no command here')),
      fetch: async () => Promise.reject(new Error('no page here')),
    });
    expect(tools.map(({ name }) => name)).to.deep.equal(['file_read', 'file_write', 'file_list', 'apply_patch', 'code_search', 'shell_exec', 'web_fetch', 'web_fetch_to_file', 'system_time']);
    const time = tools.at(-1);
    expect(time).to.include({ risk: 'read', replay: 'safe', parallel: true });
    expect(JSON.parse((await run(time, {})).content)).to.deep.equal({ utc: '2026-03-10T23:30:00.000Z', unix_ms: clock.now(), weekday: 'Tuesday' });
  });
});
