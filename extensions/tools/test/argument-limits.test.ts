import { checkValue } from '@svc/api';
import { expect } from 'chai';
import { applyPatchTool } from '../src/builtin/apply-patch.js';
import { fileTools } from '../src/builtin/file-tools.js';
import { shellTool } from '../src/builtin/shell-exec.js';
import { webFetchTool } from '../src/builtin/web-fetch.js';
import type { Workspaces } from '../src/builtin/workspace.js';

// Nothing here runs a tool: what they would need is never asked for.
const nothing = undefined as never;
const workspaces: Workspaces = { of: () => nothing, made: () => nothing, checkpoint: async () => undefined };
const tools = [...fileTools(workspaces), applyPatchTool(workspaces), shellTool(workspaces, nothing), webFetchTool({ fetch: nothing, workers: nothing, clock: nothing })];

const isTaken = async (name: string, args: object): Promise<boolean> => {
  const tool = tools.find((one) => one.name === name);
  if (!tool) throw new Error(`no tool ${name}`);
  return (await checkValue(tool.params, args)).ok;
};

describe('what a tool takes', () => {
  it('has a beginning and an end', async () => {
    const table: ReadonlyArray<readonly [tool: string, taken: object, refused: object]> = [
      ['file_read', { path: 'a' }, { path: '' }],
      ['file_read', { path: 'a'.repeat(1_000) }, { path: 'a'.repeat(1_001) }],
      ['file_read', { path: 'a', offset: 1, limit: 1 }, { path: 'a', offset: 0 }],
      ['file_read', { path: 'a', limit: 1 }, { path: 'a', limit: 0 }],
      ['file_write', { path: 'a', content: 'x'.repeat(4_000_000) }, { path: 'a', content: 'x'.repeat(4_000_001) }],
      ['file_write', { path: 'a', content: '' }, { path: 'a' }],
      ['file_list', {}, { path: '' }],
      ['apply_patch', { patch: 'x' }, { patch: '' }],
      ['apply_patch', { patch: 'x'.repeat(2_000_000) }, { patch: 'x'.repeat(2_000_001) }],
      ['shell_exec', { command: 'x' }, { command: '' }],
      ['shell_exec', { command: 'x'.repeat(100_000) }, { command: 'x'.repeat(100_001) }],
      ['shell_exec', { command: 'x', timeout_seconds: 1 }, { command: 'x', timeout_seconds: 0 }],
      ['shell_exec', { command: 'x', timeout_seconds: 600 }, { command: 'x', timeout_seconds: 601 }],
      ['web_fetch', { url: 'x' }, { url: '' }],
      ['web_fetch', { url: 'x'.repeat(4_000) }, { url: 'x'.repeat(4_001) }],
    ];
    for (const [index, [tool, taken, refused]] of table.entries()) {
      expect(await isTaken(tool, taken), `${tool} ${index}`).to.equal(true);
      expect(await isTaken(tool, refused), `${tool} ${index}`).to.equal(false);
    }
  });
});
