import type { Capabilities } from '@svc/api';
import { expect } from 'chai';
import { escalationOf } from '../src/inheritance.js';
import { inheritanceHolds } from '../src/self-check.js';

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
const NO_LISTS = { tool_allowlist: [] as string[], tool_blocklist: [] as string[], tools_disabled: false };

const between = (parent: Partial<Capabilities>, child: Partial<Capabilities>, parentLists = {}, childLists = {}) =>
  escalationOf({ capabilities: { ...PARENT, ...parent }, ...NO_LISTS, ...parentLists }, { capabilities: { ...LEAST, ...child }, ...NO_LISTS, ...childLists });

describe('capability inheritance', () => {
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

  it('reports the protection as active only because the rules judge known cases rightly', () => {
    expect(inheritanceHolds()).to.equal(true);
  });
});
