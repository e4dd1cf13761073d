import type { Capabilities, Need, Role, ToolRequest, ToolRisk } from '@svc/api';
import { virtualClock } from '@svc/platform/clock/clock';
import { expect } from 'chai';
import { createCallRate } from '../src/call-rate.js';
import { createCallPolicy } from '../src/call-verdict.js';
import { bound, GRANTS, type Grant, grantsOf, reviewOf, whyWithheld } from '../src/grants.js';
import { type CallToCheck, neverReason } from '../src/policy.js';
import { listed } from '../src/shell-command.js';

const RICH: Capabilities = {
  tools: ['*'],
  network: ['*'],
  memory_read: [],
  memory_write: [],
  shell: ['ls *'],
  agent_spawn: true,
  agent_message: ['*'],
  file_system: true,
  max_llm_tokens_per_hour: null,
};

const command = (target: string): Need[] => [{ capability: 'shell', target }];
const address = (target: string): Need[] => [{ capability: 'network', target }];
const files: readonly Need[] = [{ capability: 'file_system', target: 'a.txt' }];

describe('the verdict on one call', () => {
  interface Asked {
    readonly name?: string;
    readonly risk?: ToolRisk;
    readonly needs?: readonly Need[];
    readonly capabilities?: Partial<Capabilities>;
    readonly agentId?: string;
  }
  const open = (mayGrant: readonly Grant[], role: Role | 'nobody' = 'user', receivers: readonly string[] = []) => {
    const clock = virtualClock(0);
    const owners: string[] = [];
    const decide = createCallPolicy(
      async (ownerId, capabilities) => {
        owners.push(ownerId);
        return { ...bound(capabilities, mayGrant), role: role === 'nobody' ? undefined : role };
      },
      async () => receivers,
      createCallRate(clock),
      { declared: () => [] },
    );
    const ask = async ({ name = 'x', risk = 'read', needs = [], capabilities = {}, agentId = 'a' }: Asked) => {
      // What a verdict reads of a request.
      const request = {
        tool: { name, risk, capabilities: needs.map(({ capability }) => capability) },
        needs,
        call: { agentId, actor: { id: 'user:ann', role: 'user', ownerId: 'user:ann' }, capabilities: { ...RICH, ...capabilities } },
      };
      return decide(request as unknown as ToolRequest);
    };
    const denied = async (asked: Asked): Promise<string> => {
      const verdict = await ask(asked);
      return verdict && 'deny' in verdict ? `${verdict.code}: ${verdict.deny}` : 'nothing';
    };
    return { ask, denied, clock, owners };
  };

  it('names what a person could grant, as narrow as it helps', async () => {
    const { ask } = open(GRANTS, 'user', ['bob']);
    const missing = async (asked: Asked) => {
      const verdict = await ask(asked);
      return verdict && 'deny' in verdict ? verdict.missing : 'no refusal';
    };
    expect(await missing({ needs: address('https://example.com/x?y'), capabilities: { network: ['a.example'] } })).to.deep.equal([{ capability: 'network', target: 'example.com' }]);
    expect(await missing({ risk: 'exec', needs: command('rm x') })).to.deep.equal([{ capability: 'shell', target: 'rm x' }]);
    expect(await missing({ needs: files, capabilities: { file_system: false } })).to.deep.equal([{ capability: 'file_system', target: 'a.txt' }]);
    expect(await missing({ name: 'y', capabilities: { tools: ['x'] } })).to.deep.equal([{ capability: 'tools', target: 'y' }]);
    expect(await missing({ needs: address('no address') })).to.deep.equal([]);
    // Of two needs, only the one that is not covered.
    expect(await missing({ needs: [...files, ...address('https://b.example')], capabilities: { network: ['a.example'] } })).to.deep.equal([{ capability: 'network', target: 'b.example' }]);
  });

  it('names no grant where the role of the owner withholds it', async () => {
    const verdict = await open([]).ask({ risk: 'exec', needs: command('ls -l') });
    expect(verdict).to.have.property('deny');
    expect(verdict).to.not.have.property('missing');
  });

  it('is none where nothing speaks against the call', async () => {
    const { ask, owners } = open(GRANTS);
    expect(await ask({})).to.equal(undefined);
    expect(await ask({ risk: 'exec', needs: command('ls -l') })).to.equal(undefined);
    expect(owners).to.deep.equal(['user:ann', 'user:ann']);
  });

  it('is that of the manifest where the manifest refuses', async () => {
    const { denied } = open([]);
    expect(await denied({ name: 'y', capabilities: { tools: ['x'] } })).to.match(/^capability_denied: This agent may not use y/);
    expect(await open(GRANTS).denied({ risk: 'exec', needs: command('rm x') })).to.match(/^capability_denied: .*shell allows ls/);
  });

  it('G1 names the grant that the owner may not give, where that alone is the reason', async () => {
    const { denied } = open([]);
    expect(await denied({ risk: 'exec', needs: command('ls -l') })).to.match(/^capability_denied: This call is refused: .*shell = "ls \*" needs the permission shell,/);
    expect(await denied({ risk: 'network', needs: address('https://example.org') })).to.match(/network = "\*" needs the permission network/);
    expect(await denied({ risk: 'network', needs: address('http://10.0.0.1/'), capabilities: { network: ['10.0.0.1'] } })).to.match(/needs the permission private_network/);
    expect(await denied({ risk: 'exec', needs: command('x'), capabilities: { shell: ['*'] } })).to.match(/needs the permission full_shell/);
    expect(await denied({ name: 'agent_spawn', risk: 'agent', needs: [{ capability: 'agent_spawn' }] })).to.match(/needs the permission agent_spawn/);
    for (const risk of ['read', 'write'] as const) expect(await denied({ risk, needs: files }), risk).to.match(/needs the permission file_system/);
    expect(await open([], 'nobody').denied({ risk: 'write', needs: files })).to.match(/not known to this daemon/);
  });

  it('G1 names a grant of the right kind, and any that is withheld where none is', async () => {
    expect(await open(['shell', 'file_system', 'agent_spawn', 'agent_message']).denied({ risk: 'network', needs: address('https://example.org') })).to.match(/permission network/);
    // A workspace behind a tool of another risk.
    expect(await open(['shell', 'network', 'agent_spawn', 'agent_message']).denied({ risk: 'exec', needs: [...command('ls -l'), ...files] })).to.match(/permission file_system/);
  });

  it('G3 lets through what needs nothing of what is withheld', async () => {
    expect(await open([]).denied({})).to.equal('nothing');
    expect(await open(['file_system']).denied({ risk: 'write', needs: files })).to.equal('nothing');
  });

  it('knows a receiver by every name of it', async () => {
    const send: Asked = { name: 'agent_send', risk: 'agent', needs: [{ capability: 'agent_message', target: 'whoever' }], capabilities: { agent_message: ['writer'] } };
    expect(await open(GRANTS, 'owner', ['writer', 'id-7']).denied(send)).to.equal('nothing');
    expect(await open(GRANTS, 'owner', ['reader']).denied(send)).to.match(/may not write to reader/);
  });

  it('holds an agent to its calls in a minute, and counts none that was refused', async () => {
    const { denied, clock } = open(GRANTS);
    const two = { capabilities: { max_tool_calls_per_minute: 2 } };
    expect([await denied(two), await denied({ ...two, capabilities: { ...two.capabilities, tools: ['y'] } }), await denied(two)].map((text) => text.split(':')[0])).to.deep.equal([
      'nothing',
      'capability_denied',
      'nothing',
    ]);
    await clock.advance(500);
    expect(await denied(two)).to.match(/^capability_rate_limited: This agent has made 2 tool calls.*possible in 60 s/);
    await clock.advance(1_000);
    expect(await denied(two)).to.match(/possible in 59 s/);
    expect(await denied({ ...two, agentId: 'b' })).to.equal('nothing');
    await clock.advance(58_500);
    expect(await denied(two)).to.equal('nothing');
  });

  it('limits no agent without a limit, and no call without an agent', async () => {
    const { denied } = open(GRANTS);
    for (let time = 0; time < 5; time++) {
      expect(await denied({ capabilities: { max_tool_calls_per_minute: 0 } })).to.equal('nothing');
      expect(await denied({ capabilities: { max_tool_calls_per_minute: 1 }, agentId: '' })).to.equal('nothing');
    }
    expect(await denied({ capabilities: { max_tool_calls_per_minute: 1 } })).to.equal('nothing');
    expect(await denied({ capabilities: { max_tool_calls_per_minute: 1 } })).to.match(/rate_limited/);
  });
});

describe('the memory of calls', () => {
  it('says when the next one is possible, also after the limit was lowered', async () => {
    const clock = virtualClock(0);
    const rate = createCallRate(clock);
    for (let time = 0; time < 3; time++) {
      rate.take('a', 3);
      await clock.advance(10_000);
    }
    // Of three calls at 0, 10 and 20 s, two have to be over: at 70 s; all but none at 80 s.
    expect(rate.take('a', 3)).to.equal(30_000);
    expect(rate.take('a', 2)).to.equal(40_000);
    expect(rate.take('a', 1)).to.equal(50_000);
  });

  it('holds ten thousand agents, and forgets the one that called longest ago', () => {
    const rate = createCallRate(virtualClock(0));
    rate.take('first', 1);
    rate.take('second', 1);
    for (let number = 2; number < 10_000; number++) rate.take(`a${number}`, 1);
    expect(rate.take('first', 1)).to.equal(60_000);
    rate.take('one more', 1);
    expect(rate.take('first', 1)).to.equal(60_000);
    expect(rate.take('second', 1)).to.equal(undefined);
  });
});

describe('what a manifest allows', () => {
  it('C2 gives the first reason for which a tool can never run', () => {
    const never = (tool: CallToCheck['tool'], capabilities: Partial<Capabilities>) => neverReason(tool, { ...RICH, ...capabilities });
    const exec = { mode: 'deny', programs: null, env: null, timeout_secs: null, no_output_timeout_secs: null, max_output_bytes: null } as const;
    expect(never({ name: 'x', risk: 'exec', capabilities: ['shell'] }, { exec })).to.match(/exec_policy of its manifest is "deny"/);
    expect(never({ name: 'x', risk: 'read', capabilities: [] }, { exec })).to.equal(undefined);
    expect(never({ name: 'x', risk: 'exec', capabilities: ['shell'] }, { exec: { ...exec, mode: 'full' } })).to.equal(undefined);
    expect(never({ name: 'x', risk: 'read', capabilities: [] }, { file_system: false })).to.equal(undefined);
    expect(never({ name: 'x', risk: 'read', capabilities: ['file_system'] }, { file_system: false, tools: ['y'] })).to.match(/tools allows y/);
    expect(never({ name: 'x', risk: 'agent', capabilities: [] }, { agent_spawn: false, agent_message: [] })).to.equal(undefined);
    expect(never({ name: 'agent_send', risk: 'agent', capabilities: ['agent_message'] }, { agent_spawn: false })).to.equal(undefined);
    expect(never({ name: 'agent_spawn', risk: 'agent', capabilities: ['agent_spawn'] }, { agent_message: [] })).to.equal(undefined);
  });

  it('G2 is for the daemon itself what it is for an owner', () => {
    expect(grantsOf('system', { admin: [], user: [], viewer: [] })).to.equal(GRANTS);
    expect(grantsOf('admin', { admin: ['shell'], user: [], viewer: [] })).to.deep.equal(['shell']);
    expect(grantsOf('viewer', { admin: [], user: [], viewer: ['network'] })).to.deep.equal(['network']);
  });

  it('G3 says of nothing that it was withheld where nothing was granted', () => {
    const poor: Capabilities = { ...RICH, shell: [], network: [], agent_message: [], agent_spawn: false, file_system: false };
    expect(bound(poor, [])).to.deep.equal({ capabilities: poor, withheld: [] });
    expect(bound(poor, []).capabilities).to.equal(poor);
    expect(bound(RICH, ['shell']).withheld.map(({ grant, what }) => `${grant} ${what}`)).to.deep.equal([
      'network network = "*"',
      'agent_message agent_message = "*"',
      'agent_spawn agent_spawn = true',
      'file_system file_system = true',
    ]);
  });

  it('is quoted in part where it is long', () => {
    expect(whyWithheld({ grant: 'shell', what: 'x'.repeat(300) }, 'user')).to.match(/^\[capabilities\] x{200} needs/);
    expect(reviewOf({ ...RICH, shell: [`make ${'x'.repeat(300)}`] })[0]).to.match(/^\[capabilities\] shell = "make x{95}" names/);
  });

  it('is told in at most twenty patterns', () => {
    const patterns = Array.from({ length: 21 }, (_, index) => `p${index}`);
    expect(listed([])).to.equal('none');
    expect(listed(patterns.slice(0, 20))).to.equal(patterns.slice(0, 20).join(', '));
    expect(listed(patterns)).to.equal(`${patterns.slice(0, 20).join(', ')} and more`);
  });
});
