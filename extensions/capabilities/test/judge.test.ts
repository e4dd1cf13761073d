import type { Capabilities } from '@svc/api';
import { expect } from 'chai';
import { type CallToJudge, neverReason, refusalOf } from '../src/judge.js';

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

const refusal = (tool: CallToJudge['tool'], capabilities: Partial<Capabilities>, args: Record<string, unknown> = {}, receivers: string[] = []) =>
  refusalOf({ tool, args, capabilities: { ...NOTHING, ...capabilities }, receivers });

const fileRead = { name: 'file_read', risk: 'read', workspace: true } as const;
const shell = { name: 'shell_exec', risk: 'exec' } as const;
const fetch = { name: 'web_fetch', risk: 'network' } as const;
const spawn = { name: 'agent_spawn', risk: 'agent' } as const;
const send = { name: 'agent_send', risk: 'agent' } as const;

describe('capabilities', () => {
  it('C1 refuses a tool that the manifest does not list, and says what it lists', () => {
    expect(refusal(fileRead, { tools: ['web_*', 'system_time'] })).to.match(/may not use file_read.*web_\*, system_time/);
    expect(refusal(fileRead, { tools: ['file_*'] })).to.equal(undefined);
    expect(refusal(fileRead, { tools: ['*'] })).to.equal(undefined);
  });

  it('C2 refuses each tool whose grant is missing, although its name is listed', () => {
    const listed = { tools: ['*'] };
    expect(refusal(shell, listed, { command: 'ls' })).to.match(/\[capabilities\] shell/);
    expect(refusal(fetch, listed, { url: 'https://example.org/' })).to.match(/\[capabilities\] network/);
    expect(refusal(spawn, listed)).to.match(/\[capabilities\] agent_spawn/);
    expect(refusal(send, listed, { agent_id: 'writer' }, ['writer'])).to.match(/\[capabilities\] agent_message/);
    expect(refusal(fileRead, { ...listed, file_system: false })).to.match(/file_system is false/);
  });

  it('C2 lets a host through that is granted, and no other', () => {
    const granted = { network: ['*.example.org'] };
    expect(refusal(fetch, granted, { url: 'https://API.example.org:8443/x' })).to.equal(undefined);
    expect(refusal(fetch, granted, { url: 'https://example.org.evil.test/' })).to.match(/may not reach example.org.evil.test/);
    expect(refusal(fetch, granted, { url: 'https://evil.test/?x=a.example.org' })).to.match(/may not reach evil.test/);
    expect(refusal(fetch, granted, { url: 'no address' })).to.match(/not an address/);
    expect(refusal(fetch, granted, { url: 'x'.repeat(300) })).to.match(/^"x{200}" is not/);
  });

  it('C2 matches a receiver by its name or its id', () => {
    expect(refusal(send, { agent_message: ['writer'] }, {}, ['writer', 'some-id'])).to.equal(undefined);
    expect(refusal(send, { agent_message: ['some-id'] }, {}, ['writer', 'some-id'])).to.equal(undefined);
    expect(refusal(send, { agent_message: ['reader'] }, {}, ['writer', 'some-id'])).to.match(/may not write to writer/);
  });

  it('C3 lets an empty list of tools mean every tool that needs no grant', () => {
    expect(refusal(fileRead, {})).to.equal(undefined);
    expect(refusal({ name: 'system_time', risk: 'read' }, {})).to.equal(undefined);
    expect(refusal(shell, {}, { command: 'ls' })).to.match(/shell/);
  });

  it('C4 lists nothing that would always be refused', () => {
    expect([fileRead, shell, fetch, spawn, send].filter((tool) => neverReason(tool, NOTHING) === undefined)).to.deep.equal([fileRead]);
    expect(neverReason(shell, { ...NOTHING, shell: ['git *'] })).to.equal(undefined);
  });
});
