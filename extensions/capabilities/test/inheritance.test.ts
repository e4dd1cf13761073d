import type { Capabilities, ExecLimits } from '@svc/api';
import { expect } from 'chai';
import { escalationOf } from '../src/inheritance.js';
import { lookAtInheritance } from '../src/self-check.js';

const PARENT: Capabilities = {
  tools: ['file_*', 'web_fetch'],
  network: ['*.example.org'],
  memory_read: ['*'],
  memory_write: ['self.*'],
  shell: ['git *'],
  agent_spawn: true,
  agent_message: ['*'],
  file_system: true,
  max_llm_tokens_per_hour: 1_000,
};
const LEAST: Capabilities = {
  tools: ['file_read'],
  network: [],
  memory_read: [],
  memory_write: [],
  shell: [],
  agent_spawn: false,
  agent_message: [],
  file_system: false,
  max_llm_tokens_per_hour: 1_000,
};
const NO_LIMITS = { burst_ratio: 0, max_cost_per_hour_usd: 0, max_cost_per_day_usd: 0, max_cost_per_month_usd: 0, max_concurrent_tools: 0 };
const NO_LISTS = { tool_allowlist: [] as string[], tool_blocklist: [] as string[], tools_disabled: false, resources: NO_LIMITS, autonomous: { max_iterations: 20 } };

const between = (parent: Partial<Capabilities>, child: Partial<Capabilities>, parentLists = {}, childLists = {}) =>
  escalationOf({ capabilities: { ...PARENT, ...parent }, ...NO_LISTS, ...parentLists }, { capabilities: { ...LEAST, ...child }, ...NO_LISTS, ...childLists });

describe('capability inheritance', () => {
  it('I1 has the tools of no source that its parent does not have', () => {
    const extra = (mine: Partial<Capabilities>, theirs: Partial<Capabilities>) => between(mine, theirs);
    expect(extra({ sources: { mcp: ['files'] } }, { sources: { mcp: ['files'] } })).to.equal(undefined);
    expect(extra({ sources: { mcp: ['*'] } }, { sources: { mcp: ['any'] } })).to.equal(undefined);
    expect(extra({ sources: { mcp: ['files'] } }, { sources: { mcp: [] } })).to.equal(undefined);
    expect(extra({ sources: { mcp: ['files'] } }, { sources: { mcp: ['mail'] } })).to.equal('the tools of mcp mail');
    expect(extra({ sources: { mcp: ['files'] } }, {})).to.equal('the tools of mcp *');
    expect(extra({}, { sources: { mcp: ['files'] } })).to.equal('the tools of mcp files');
    expect(extra({ tools: ['file_*', 'mcp_files_*'] }, { sources: { mcp: ['files'] } })).to.equal(undefined);
  });

  it('I1 mounts no folder that its parent does not mount as much', () => {
    const extra = (mine: string[], theirs: string[]) => escalationOf({ ...NO_LISTS, capabilities: { ...PARENT, mounts: mine } }, { ...NO_LISTS, capabilities: { ...LEAST, mounts: theirs } });
    for (const [mine, theirs] of [
      [['/srv/a'], ['/srv/a']],
      [['/srv/a:rw'], ['/srv/a', '/srv/a:rw']],
      [['/srv/a'], []],
    ] as const)
      expect(extra([...mine], [...theirs]), `${theirs}`).to.equal(undefined);
    for (const [mine, theirs] of [
      [['/srv/a'], ['/srv/a:rw']],
      [[], ['/srv/a']],
      [['/srv/a'], ['/srv/a/b']],
      [['/srv/a:rw'], ['/srv']],
    ] as const)
      expect(extra([...mine], [...theirs]), `${theirs}`).to.match(/^mounts /);
  });

  it('lets a child have what its parent has, and less', () => {
    expect(between({}, PARENT)).to.equal(undefined);
    expect(between({}, {})).to.equal(undefined);
    expect(between({}, { tools: ['file_re*'], network: ['api.example.org'], shell: ['git log *'], memory_write: ['self.notes.*'] })).to.equal(undefined);
  });

  it('I1 refuses every grant that no grant of the parent covers', () => {
    const more: Array<[Partial<Capabilities>, string]> = [
      [{ tools: ['shell_exec'] }, 'the tool shell_exec'],
      [{ tools: [] }, 'the tool *'],
      [{ tools: ['*'] }, 'the tool *'],
      [{ tools: ['*_read'] }, 'the tool *_read'],
      [{ network: ['example.org'] }, 'network example.org'],
      [{ network: ['*'] }, 'network *'],
      [{ shell: ['*'] }, 'shell *'],
      [{ memory_write: ['*'] }, 'memory_write *'],
    ];
    for (const [child, what] of more) expect(between({}, child), what).to.equal(what);
    expect(between({ agent_spawn: false }, { agent_spawn: true })).to.equal('agent_spawn');
    expect(between({ file_system: false }, { file_system: true })).to.equal('file_system');
    expect(between({ agent_message: ['a'] }, { agent_message: ['b'] })).to.equal('agent_message b');
  });

  it('I1 refuses a command whose own words reach beyond what the parent may run', () => {
    for (const shell of ['git log *', 'git status', 'git -C sub log *', ' git status ']) expect(between({}, { shell: [shell] }), shell).to.equal(undefined);
    for (const shell of ['git -c alias.x=!id *', 'git difftool *', 'git*', 'gi* x', '* status', 'git -C sub *', 'git log --output=x', 'sh -c *', ' * status'])
      expect(between({}, { shell: [shell] }), shell).to.equal(`shell ${shell}`);
    expect(between({ shell: ['*'] }, { shell: ['sh -c *'] })).to.equal(undefined);
  });

  it('I1 refuses a private network below a parent that may reach the public web', () => {
    for (const host of ['127.0.0.1:*', '10.0.0.0/8', 'localhost']) expect(between({ network: ['*'] }, { network: [host] }), host).to.equal(`network ${host}`);
    expect(between({ network: ['*', '10.0.0.0/8'] }, { network: ['10.1.0.0/16', 'example.org:443'] })).to.equal(undefined);
  });

  it('I3 keeps every cap of the child at or below its parent’s', () => {
    expect(between({}, {}, {}, { autonomous: { max_iterations: 21 } })).to.equal('more than 20 iterations');
    expect(between({}, {}, {}, { autonomous: { max_iterations: 3 } })).to.equal(undefined);
    expect(between({ max_tool_calls_per_minute: 5 }, {})).to.equal('more than 5 tool calls per minute');
    expect(between({ max_tool_calls_per_minute: 5 }, { max_tool_calls_per_minute: 6 })).to.match(/5 tool calls/);
    expect(between({ max_tool_calls_per_minute: 5 }, { max_tool_calls_per_minute: 5 })).to.equal(undefined);
    expect(between({ max_tool_calls_per_minute: 0 }, {})).to.equal(undefined);
  });

  it('I3 keeps the parent’s exec_policy in force for the child', () => {
    const exec: ExecLimits = { mode: 'allowlist', programs: ['git', 'ls'], env: ['LANG'], timeout_secs: 10, no_output_timeout_secs: null, max_output_bytes: null };
    const child = (more: Partial<ExecLimits>) => between({ exec }, { exec: { ...exec, ...more } });
    expect(between({ exec }, {})).to.match(/wider exec_policy/);
    expect(child({})).to.equal(undefined);
    expect(child({ mode: 'deny', programs: null })).to.equal(undefined);
    expect(child({ mode: 'full' })).to.match(/wider exec_policy than "allowlist"/);
    expect(child({ programs: null })).to.match(/allowed_commands/);
    expect(child({ programs: ['git', 'rm'] })).to.match(/allowed_commands/);
    expect(child({ programs: ['git'] })).to.equal(undefined);
    expect(child({ env: null })).to.match(/allowed_env_vars/);
    expect(child({ env: ['LANG', 'HOME'] })).to.match(/allowed_env_vars/);
    expect(child({ env: [] })).to.equal(undefined);
    expect(child({ timeout_secs: 11 })).to.match(/timeout_secs/);
    expect(child({ timeout_secs: null })).to.match(/timeout_secs/);
    expect(child({ max_output_bytes: 5 })).to.equal(undefined);
  });

  it('I1 counts no limit, and 0, as more than any limit', () => {
    for (const wanted of [null, 0, 1_001]) expect(between({}, { max_llm_tokens_per_hour: wanted }), String(wanted)).to.match(/tokens per hour/);
    expect(between({ max_llm_tokens_per_hour: null }, { max_llm_tokens_per_hour: null })).to.equal(undefined);
    expect(between({ max_llm_tokens_per_hour: 0 }, { max_llm_tokens_per_hour: 5 })).to.equal(undefined);
  });

  it("I2 keeps the parent's blocklist, allowlist and switch in force for the child", () => {
    expect(between({}, {}, { tool_blocklist: ['web_fetch'] })).to.match(/web_fetch.*tool_blocklist/);
    expect(between({}, {}, { tool_blocklist: ['web_fetch'] }, { tool_blocklist: ['web_*'] })).to.equal(undefined);
    expect(between({}, {}, { tool_allowlist: ['file_*'] })).to.match(/tool_allowlist/);
    expect(between({}, {}, { tool_allowlist: ['file_*'] }, { tool_allowlist: ['file_read'] })).to.equal(undefined);
    expect(between({}, {}, { tools_disabled: true })).to.match(/tools/);
  });

  it('I1 gives no child a higher or no limit where its parent has one', () => {
    for (const key of ['burst_ratio', 'max_cost_per_hour_usd', 'max_cost_per_day_usd', 'max_cost_per_month_usd', 'max_concurrent_tools']) {
      const parent = { resources: { ...NO_LIMITS, [key]: 0.5 } };
      expect(between({}, {}, parent), key).to.match(/^more than 0\.5 /);
      expect(between({}, {}, parent, { resources: { ...NO_LIMITS, [key]: 1 } }), key).to.match(/^more than 0\.5 /);
      expect(between({}, {}, parent, { resources: { ...NO_LIMITS, [key]: 0.25 } }), key).to.equal(undefined);
    }
  });

  it('reports the protection as active only because the rules validate known cases rightly', () => {
    expect(lookAtInheritance().state).to.equal('active');
  });
});
