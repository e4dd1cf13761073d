/** An agent that may write files and run `git status`, and would make more of it: git's own folder is not for file tools. */
import { execFile } from 'node:child_process';
import { access, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { isSvcError, type ToolCall } from '@svc/api';
import { openDir } from '@svc/platform/adapters/files/files-adapter';
import { expect } from 'chai';
import { createFilesService } from '../../extensions/files/src/workspace/service.js';
import { applyPatchTool } from '../../extensions/tools/src/builtin/apply-patch.js';
import { fileTools } from '../../extensions/tools/src/builtin/file-tools.js';
import { startOf } from '../../extensions/tools/src/builtin/command-start.js';
import { createWorkspaces } from '../../extensions/tools/src/builtin/workspace.js';

const run = promisify(execFile);
const AGENT = 'a';
const PATHS = ['.git/config', './.git/config', '.GIT/config', 'sub/.git/config', '.git/info/attributes', '.git', '.git./config', '.g\u200cit/config', '.git\\config'];

describe('an agent that may write files and run git', () => {
  let root: string;
  beforeEach(async () => {
    root = await realpath(await mkdtemp(join(tmpdir(), 'svc-git-')));
    await run('git', ['init', '-q', join(root, AGENT)]);
    await writeFile(join(root, AGENT, 'a.txt'), 'x\n');
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  const config = (): string => `[core]\n\trepositoryformatversion = 0\n[filter "x"]\n\tclean = touch ${join(root, 'taken')}; cat\n`;
  const use = async (name: string, args: object): Promise<string> => {
    const workspaces = createWorkspaces(openDir(root));
    const tool = [...fileTools(workspaces), applyPatchTool(workspaces)].find((one) => one.name === name);
    if (!tool) throw new Error(`there is no ${name}`);
    try {
      // A file tool asks its call for the agent alone.
      await tool.run(args as never, { agentId: AGENT } as ToolCall);
      return 'done';
    } catch (error) {
      return isSvcError(error) ? error.code : String(error);
    }
  };
  const git = async (command: string): Promise<void> => {
    const capabilities = { tools: [], network: [], memory_read: [], memory_write: [], shell: ['git add *'], agent_spawn: false, agent_message: [], file_system: true, max_llm_tokens_per_hour: null };
    const [program, args, { env }] = startOf('shell_exec', command, capabilities);
    await run(program, [...args], { cwd: join(root, AGENT), env: { PATH: process.env.PATH, HOME: root, ...env } }).catch(() => undefined);
  };
  const isTaken = (): Promise<boolean> =>
    access(join(root, 'taken')).then(
      () => true,
      () => false,
    );

  it('runs no program by a configuration that a file tool wrote', async () => {
    expect(await use('file_write', { path: '.gitattributes', content: '* filter=x\n' })).to.equal('done');
    await use('file_write', { path: '.git/config', content: config() });
    await git('git add a.txt');
    expect(await isTaken()).to.equal(false);
  });

  it('is the case that it is about: the same configuration, written otherwise, does run it', async () => {
    await use('file_write', { path: '.gitattributes', content: '* filter=x\n' });
    await writeFile(join(root, AGENT, '.git/config'), config());
    await git('git add a.txt');
    expect(await isTaken()).to.equal(true);
  });

  for (const path of PATHS) {
    it(`cannot write ${JSON.stringify(path)}, by any file tool`, async () => {
      const refusals = ['tools_git_folder', 'tools_path_denied'];
      expect(await use('file_write', { path, content: 'x' })).to.be.oneOf(refusals);
      expect(await use('apply_patch', { patch: `*** Begin Patch\n*** Add File: ${path}\n+x\n*** End Patch` })).to.be.oneOf(refusals);
      expect(await use('apply_patch', { patch: `*** Begin Patch\n*** Update File: a.txt\n*** Move to: ${path}\n@@\n-x\n+y\n*** End Patch` })).to.be.oneOf(refusals);
      expect(await use('apply_patch', { patch: `*** Begin Patch\n*** Delete File: ${path}\n*** End Patch` })).to.be.oneOf(refusals);
    });
  }

  it('cannot write there through a link that git made', async () => {
    await symlink('.git', join(root, AGENT, 'docs'));
    await mkdir(join(root, AGENT, '.identity'));
    await symlink('.identity', join(root, AGENT, 'who'));
    for (const path of ['docs/config', 'docs/info/attributes', 'who/SOUL.md']) {
      expect(await use('file_write', { path, content: config() }), path).to.equal('file_linked_folder');
      expect(await use('apply_patch', { patch: `*** Begin Patch\n*** Add File: ${path}x\n+x\n*** End Patch` }), path).to.equal('file_linked_folder');
    }
    expect(await use('apply_patch', { patch: '*** Begin Patch\n*** Delete File: docs/HEAD\n*** End Patch' })).to.equal('file_linked_folder');
    await git('git add a.txt');
    expect(await isTaken()).to.equal(false);
  });

  it('is not helped by a person who may write its files', async () => {
    const files = createFilesService(openDir(root));
    await symlink('.git', join(root, AGENT, 'docs'));
    for (const path of [...PATHS, 'docs/config']) {
      const refused = await files.write(AGENT, path, Buffer.from(config()), () => undefined).catch((error: unknown) => (isSvcError(error) ? error.code : String(error)));
      expect(refused, path).to.be.oneOf(['files_git_folder', 'files_bad_name', 'file_linked_folder']);
    }
  });

  it('may write what only looks like it', async () => {
    for (const path of ['.gitignore', '.gitattributes', '.github/workflows/a.yml', 'git/config', 'a.git/config']) expect(await use('file_write', { path, content: 'x' }), path).to.equal('done');
  });
});
