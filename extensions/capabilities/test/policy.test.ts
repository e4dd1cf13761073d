import type { Capabilities, Need } from '@svc/api';
import { expect } from 'chai';
import { type CallToCheck, neverReason, refusalOf } from '../src/policy.js';

const NOTHING: Capabilities = {
  tools: [],
  network: [],
  memory_read: [],
  memory_write: [],
  shell: [],
  agent_spawn: false,
  agent_message: [],
  file_system: true,
  max_llm_tokens_per_hour: null,
};

const refusal = (tool: CallToCheck['tool'], capabilities: Partial<Capabilities>, needs: readonly (Need & { readonly names?: readonly string[] })[] = []) =>
  refusalOf({ tool, needs, capabilities: { ...NOTHING, ...capabilities } });

const fileRead = { name: 'file_read', risk: 'read', capabilities: ['file_system'] } as const;
const shell = { name: 'shell_exec', risk: 'exec', capabilities: ['shell'] } as const;
const fetch = { name: 'web_fetch', risk: 'network', capabilities: ['network'] } as const;
const spawn = { name: 'agent_spawn', risk: 'agent', capabilities: ['agent_spawn'] } as const;
const send = { name: 'agent_send', risk: 'agent', capabilities: ['agent_message'] } as const;

const command = (target: string): Need[] => [{ capability: 'shell', target }];
const address = (target: string): Need[] => [{ capability: 'network', target }];
const receiver = (...names: string[]) => [{ capability: 'agent_message', names }];

describe('capabilities', () => {
  it('C1 refuses a tool that the manifest does not list, and says what it lists', () => {
    expect(refusal(fileRead, { tools: ['web_*', 'system_time'] })).to.match(/may not use file_read.*web_\*, system_time/);
    expect(refusal(fileRead, { tools: ['file_*'] })).to.equal(undefined);
    expect(refusal(fileRead, { tools: ['*'] })).to.equal(undefined);
  });

  it('C6 gives the tools of a source that is named, whatever the list of tools says, and no others of its kind', () => {
    const tool = { name: 'mcp_files_read', risk: 'write', capabilities: [], source: { kind: 'mcp', name: 'files' } } as const;
    expect(refusal(tool, { tools: ['web_*'] })).to.match(/\[capabilities\] tools allows web_\*/);
    expect(refusal(tool, { tools: ['mcp_files_*'] })).to.equal(undefined);
    expect(refusal(tool, { tools: ['web_*'], sources: { mcp: ['files'] } })).to.equal(undefined);
    expect(refusal(tool, { tools: ['web_*'], sources: { mcp: ['*'] } })).to.equal(undefined);
    expect(refusal(tool, { sources: { mcp: ['other'] } })).to.match(/gives it those of mcp other/);
    expect(refusal(tool, { sources: { mcp: [] } })).to.match(/no tools of mcp/);
    expect(refusal(tool, { tools: ['*'], sources: { skill: [] } })).to.equal(undefined);
  });

  it('C2 refuses each tool whose grant is missing, although its name is listed', () => {
    const listed = { tools: ['*'] };
    expect(refusal(shell, listed, command('ls'))).to.match(/\[capabilities\] shell/);
    expect(refusal(fetch, listed, address('https://example.org/'))).to.match(/\[capabilities\] network/);
    expect(refusal(spawn, listed)).to.match(/\[capabilities\] agent_spawn/);
    expect(refusal(send, listed, receiver('writer'))).to.match(/\[capabilities\] agent_message/);
    expect(refusal(fileRead, { ...listed, file_system: false })).to.match(/file_system is false/);
  });

  it('C2 lets a host through that is granted, and no other', () => {
    const granted = { network: ['*.example.org'] };
    expect(refusal(fetch, granted, address('https://API.example.org:8443/x'))).to.equal(undefined);
    expect(refusal(fetch, granted, address('https://example.org.evil.test/'))).to.match(/may not reach example.org.evil.test/);
    expect(refusal(fetch, granted, address('https://evil.test/?x=a.example.org'))).to.match(/may not reach evil.test/);
    expect(refusal(fetch, granted, address('no address'))).to.match(/not an address/);
    expect(refusal(fetch, granted, address('x'.repeat(300)))).to.match(/^"x{200}" is not/);
  });

  it('C2 matches a receiver by its name or its id', () => {
    expect(refusal(send, { agent_message: ['writer'] }, receiver('writer', 'some-id'))).to.equal(undefined);
    expect(refusal(send, { agent_message: ['some-id'] }, receiver('writer', 'some-id'))).to.equal(undefined);
    expect(refusal(send, { agent_message: ['reader'] }, receiver('writer', 'some-id'))).to.match(/may not write to writer/);
  });

  it('C2 looks at needs that not every call of the tool has', () => {
    const mixed = { name: 'mixed', risk: 'read', capabilities: [] } as const;
    expect(refusal(mixed, {})).to.equal(undefined);
    expect(refusal(mixed, {}, address('https://example.org/'))).to.match(/\[capabilities\] network/);
    expect(refusal(mixed, { network: ['example.org'] }, [...address('https://example.org/'), ...command('ls')])).to.match(/\[capabilities\] shell/);
    expect(refusal(mixed, { memory_read: ['notes.*'] }, [{ capability: 'memory_read', target: 'notes.today' }])).to.equal(undefined);
    expect(refusal(mixed, { memory_read: ['notes.*'] }, [{ capability: 'memory_read', target: 'diary' }])).to.match(/may not read diary: .*memory_read allows notes\.\*/);
  });

  it('C5 takes a need without a target for one of everything, and refuses one that nobody knows', () => {
    expect(refusal(shell, { shell: ['ls *'] }, [{ capability: 'shell' }])).to.match(/does not say which command/);
    expect(refusal(shell, { shell: ['*'] }, [{ capability: 'shell' }])).to.equal(undefined);
    expect(refusal(fetch, { network: ['example.org'] }, [{ capability: 'network' }])).to.match(/does not say which host/);
    expect(refusal(fetch, { network: ['*'] }, [{ capability: 'network' }])).to.equal(undefined);
    expect(refusal(send, { agent_message: ['a'] }, [{ capability: 'agent_message' }])).to.match(/may not write to that agent: .*allows a\./);
    expect(refusal(send, { agent_message: ['*'] }, [{ capability: 'agent_message' }])).to.equal(undefined);
    for (const known of [{ ...fileRead, capabilities: ['camera'] }, fileRead])
      expect(refusal(known, { tools: ['*'] }, [{ capability: 'camera' }])).to.match(/needs "camera", which is not a capability/);
  });

  it('C3 lets an empty list of tools mean every tool that needs no grant', () => {
    expect(refusal(fileRead, {})).to.equal(undefined);
    expect(refusal({ name: 'system_time', risk: 'read', capabilities: [] }, {})).to.equal(undefined);
    expect(refusal(shell, {}, command('ls'))).to.match(/shell/);
  });

  it('C4 lists nothing that would always be refused', () => {
    expect([fileRead, shell, fetch, spawn, send].filter((tool) => neverReason(tool, NOTHING) === undefined)).to.deep.equal([fileRead]);
    expect(neverReason(shell, { ...NOTHING, shell: ['git *'] })).to.equal(undefined);
  });
});
