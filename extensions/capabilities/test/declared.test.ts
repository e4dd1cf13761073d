/** Capabilities that areas declare: how they are validated, handed down and granted by roles. */
import { type Capabilities, CAPABILITY_NAME, type CapabilityDecl, capabilityNameFault, defineCapability, type Need, needOf, type ToolRequest } from '@svc/api';
import { virtualClock } from '@svc/platform/clock/clock';
import { expect } from 'chai';
import { createCallRate } from '../src/call-rate.js';
import { createCallPolicy } from '../src/call-verdict.js';
import { bound, GRANTS, grantsOf, type RoleGrants, whyWithheld } from '../src/grants.js';
import { escalationOf } from '../src/inheritance.js';
import { neverReason, refusalOf } from '../src/policy.js';
import { idleNames, roleFindings } from '../src/role-names.js';

const Read = defineCapability('calendar_read', '1.0.0', { description: 'Read these calendars', grant: 'names' });
const Sync = defineCapability('calendar_sync', '1.0.0', { description: 'Sync with these servers', grant: 'hosts' });
const Share = defineCapability('calendar_share', '1.0.0', { description: 'Share calendars', grant: 'flag' });
const DECLARED: readonly CapabilityDecl[] = [Read, Sync, Share];

type Declared = NonNullable<Capabilities['declared']>;
const having = (declared?: Declared): Capabilities => ({
  tools: ['*'],
  network: [],
  memory_read: [],
  memory_write: [],
  shell: [],
  agent_spawn: true,
  agent_message: [],
  file_system: true,
  max_llm_tokens_per_hour: null,
  ...(declared ? { declared } : {}),
});

const tool = (...capabilities: string[]) => ({ name: 'calendar_list', risk: 'read', capabilities }) as const;
const refusal = (granted: Declared | undefined, needs: readonly Need[], declared = DECLARED) => refusalOf({ tool: tool(), needs, capabilities: having(granted), declared });

describe('a call that needs what an area declares', () => {
  it('C2 is refused without a grant, with the line that would grant it', () => {
    expect(refusal(undefined, [needOf(Read, 'work')])).to.equal(
      'This agent may not use calendar_list: its manifest grants nothing under [capabilities] calendar_read. Do without it, or ask a person to add the line calendar_read = ["…"].',
    );
    expect(refusal({ calendar_share: false }, [needOf(Share)])).to.match(/add the line calendar_share = true\.$/);
    expect(refusal({ calendar_read: ['home', 'work/*'] }, [needOf(Read, 'private "x"')])).to.equal(
      'This agent does not have calendar_read for "private \\"x\\"": [capabilities] calendar_read allows home, work/*. Do without it, or ask a person to add the line calendar_read = ["private \\"x\\""].',
    );
  });

  it('C2 runs where a pattern, a host or the flag covers it', () => {
    expect(refusal({ calendar_read: ['work/*'] }, [needOf(Read, 'work/monday')])).to.equal(undefined);
    expect(refusal({ calendar_share: true }, [needOf(Share), { capability: 'calendar_share', target: 'anybody' }])).to.equal(undefined);
    const hosts = (granted: string, target: string) => refusal({ calendar_sync: [granted] }, [needOf(Sync, target)]);
    for (const target of ['cal.example.org', 'https://CAL.example.org:8443/x', 'cal.example.org:443']) expect(hosts('*.example.org', target), target).to.equal(undefined);
    for (const target of ['https://cal.example.org.evil.test/', 'https://evil.test/?x=cal.example.org', 'https://cal.example.org@evil.test/', 'https://', 'not a host', '*'])
      expect(hosts('*.example.org', target), target).to.match(/does not have calendar_sync for/);
    expect(hosts('example.org:443', 'https://example.org/')).to.equal(undefined);
    expect(hosts('example.org:443', 'http://example.org/')).to.match(/allows example.org:443/);
    expect(hosts('*', 'http://127.0.0.1/'), 'private addresses are granted literally').to.match(/does not have/);
    expect(hosts('::1', 'http://[::1]:80/')).to.equal(undefined);
  });

  it('C5 is one of everything without a target, and then only `*` covers it', () => {
    expect(refusal({ calendar_read: ['work/*'] }, [needOf(Read)])).to.match(/does not declare what it needs calendar_read for, .* allows work/);
    expect(refusal({ calendar_read: ['*'] }, [needOf(Read)])).to.equal(undefined);
  });

  it('C4 hides a tool that could never be used, and none that depends on the arguments', () => {
    const never = (granted: Declared | undefined, declared = DECLARED) => neverReason(tool('calendar_read'), having(granted), declared) !== undefined;
    expect([never(undefined), never({ calendar_read: [] }), never({ calendar_read: ['work'] }), never({ calendar_read: ['work'] }, [])]).to.deep.equal([true, true, false, true]);
  });

  it('D1 is refused by its name where nobody declares it, whatever the manifest holds', () => {
    for (const name of ['payments_send', '__proto__', 'constructor', 'toString'])
      expect(refusal(JSON.parse(`{ "${name}": true }`), [{ capability: name }]), name).to.equal(
        `This agent may not use calendar_list: it needs "${name}", which is not a capability of this daemon: no installed extension declares it.`,
      );
    expect(refusal({ calendar_read: ['*'] }, [needOf(Read, 'work')], [])).to.match(/no installed extension declares it/);
  });

  it('D1 is validated by the interface where a declaration bears a name of it', () => {
    const sly: CapabilityDecl = { ...Share, name: 'shell' };
    expect(refusal({ shell: true }, [{ capability: 'shell', target: 'rm x' }], [sly])).to.match(/\[capabilities\] shell/);
  });

  it('D2 is not covered by a grant of another form', () => {
    expect(refusal({ calendar_read: true }, [needOf(Read, 'work')])).to.match(/grants nothing/);
    expect(refusal({ calendar_share: ['*'] }, [needOf(Share)])).to.match(/grants nothing/);
  });
});

describe('what a child has of it', () => {
  const rights = (declared?: Declared) => ({
    capabilities: having(declared),
    resources: { burst_ratio: 0, max_cost_per_hour_usd: 0, max_cost_per_day_usd: 0, max_cost_per_month_usd: 0, max_concurrent_tools: 0 },
    autonomous: { max_iterations: 5 },
    tool_allowlist: [],
    tool_blocklist: [],
    tools_disabled: false,
  });
  const extra = (parent: Declared | undefined, child: Declared | undefined, declared = DECLARED) => escalationOf(rights(parent), rights(child), declared);
  const PARENT: Declared = { calendar_read: ['work/*'], calendar_sync: ['*.example.org'], calendar_share: true };

  it('is what its parent has, or less', () => {
    expect(extra(PARENT, PARENT)).to.equal(undefined);
    expect(extra(PARENT, undefined)).to.equal(undefined);
    expect(extra(PARENT, { calendar_read: ['work/a*', 'work/b'], calendar_sync: ['cal.example.org:443'], calendar_share: false })).to.equal(undefined);
    expect(extra(undefined, { calendar_read: [], calendar_share: false })).to.equal(undefined);
  });

  it('I1 is never more: no wider pattern, no other host, no flag', () => {
    const more: ReadonlyArray<readonly [Declared | undefined, Declared, string]> = [
      [PARENT, { calendar_read: ['work/x', '*'] }, 'calendar_read *'],
      [PARENT, { calendar_read: ['private'] }, 'calendar_read private'],
      [PARENT, { calendar_sync: ['example.org'] }, 'calendar_sync example.org'],
      [PARENT, { calendar_sync: ['*'] }, 'calendar_sync *'],
      [{ calendar_sync: ['*'] }, { calendar_sync: ['10.0.0.0/8'] }, 'calendar_sync 10.0.0.0/8'],
      [undefined, { calendar_read: ['work'] }, 'calendar_read work'],
      [{ calendar_share: false }, { calendar_share: true }, 'calendar_share'],
      [{ calendar_read: true }, { calendar_read: ['work'] }, 'calendar_read work'],
    ];
    for (const [parent, child, what] of more) expect(extra(parent, child), what).to.equal(what);
  });

  it('I1 is nothing of what nobody declares', () => {
    expect(extra({ payments_send: true }, { payments_send: true })).to.equal('payments_send');
    expect(extra({ payments_send: ['a'] }, { payments_send: ['a'] })).to.equal('payments_send a');
    expect(extra(undefined, { payments_send: [], payments_see: false })).to.equal(undefined);
    expect(extra(undefined, JSON.parse('{ "constructor": true }'))).to.equal('constructor');
  });
});

describe('who may grant it', () => {
  const ROLES: RoleGrants = { admin: GRANTS, user: ['network', 'calendar_read'], viewer: [] };
  const GRANTED: Declared = { calendar_read: ['work', 'home'], calendar_sync: ['example.org'], calendar_share: true };
  const left = (role: Parameters<typeof grantsOf>[0]) => bound(having(GRANTED), grantsOf(role, ROLES));

  it('G2 is an owner, an admin for all of it, and others for what the setting names', () => {
    for (const role of ['owner', 'system', 'admin'] as const) expect(left(role).capabilities.declared, role).to.deep.equal(GRANTED);
    expect(left('user').capabilities.declared).to.deep.equal({ calendar_read: ['work', 'home'], calendar_sync: [], calendar_share: false });
    for (const role of ['viewer', 'public', undefined] as const) expect(left(role).capabilities.declared, role).to.deep.equal({ calendar_read: [], calendar_sync: [], calendar_share: false });
  });

  it('G2 is whoever has the permission for all of it, although they have no other', () => {
    expect(bound(having(GRANTED), ['declared']).capabilities).to.deep.include({ declared: GRANTED, agent_spawn: false, file_system: false });
    expect(bound(having({ calendar_share: false }), []).withheld.map(({ grant }) => grant)).to.not.include('calendar_share');
  });

  it('G3 is told grant by grant, with the permission that is missing', () => {
    const { withheld } = left('user');
    expect(withheld.map(({ grant, what }) => `${grant}: ${what}`)).to.include.members(['calendar_sync: calendar_sync = "example.org"', 'calendar_share: calendar_share = true']);
    const share = withheld.find(({ grant }) => grant === 'calendar_share');
    expect(share && whyWithheld(share, 'user')).to.match(/calendar_share = true needs the permission calendar_share, and its owner has the role user.*add "calendar_share" to user/);
  });

  it('G1 needs every permission for everything: as many names as there are permissions are not all of them', () => {
    const many = GRANTS.map((_, index) => `calendar_x${index}`);
    expect(bound(having(GRANTED), many).capabilities).to.deep.include({ agent_spawn: false, file_system: false });
    expect(
      bound(
        having({ calendar_share: true }),
        [...GRANTS].filter((grant) => grant !== 'declared'),
      ).withheld.map(({ grant }) => grant),
    ).to.deep.equal(['calendar_share']);
  });

  it('is named in the refusal of a call that the manifest alone would allow', async () => {
    const decide = createCallPolicy(
      async (_owner, capabilities) => ({ ...bound(capabilities, ['network']), role: 'user' }),
      async () => [],
      createCallRate(virtualClock(0)),
      { declared: () => DECLARED },
    );
    const ask = async (target: string) => {
      const request = {
        tool: tool('calendar_read'),
        needs: [needOf(Read, target)],
        call: { agentId: 'a', actor: { id: 'user:ann', role: 'user', ownerId: 'user:ann' }, capabilities: having(GRANTED) },
      };
      // What a verdict reads of a request.
      const verdict = await decide(request as unknown as ToolRequest);
      return verdict && 'deny' in verdict ? verdict.deny : undefined;
    };
    expect(await ask('work')).to.match(/^This call is refused: \[capabilities\] calendar_read = "work" needs the permission calendar_read, and its owner has the role user/);
    expect(await ask('elsewhere'), 'what the manifest does not grant either').to.match(/grants nothing under \[capabilities\] calendar_read/);
  });

  it('has no permission of a name that an area could take', () => {
    for (const grant of GRANTS) expect(capabilityNameFault(grant), grant).to.equal("is the interface's own");
    expect(new RegExp(CAPABILITY_NAME).test('network')).to.equal(false);
  });

  it('is told to whoever reads the doctor, where a role names what nobody declares', () => {
    const roles: RoleGrants = { admin: GRANTS, user: ['network', 'calendar_raed'], viewer: ['payments_send'] };
    expect(idleNames(roles, DECLARED)).to.deep.equal([
      '[capabilities] user names "calendar_raed", which is not a permission, and no installed extension declares such a capability: it grants nothing. Did you mean "calendar_read"?',
      '[capabilities] viewer names "payments_send", which is not a permission, and no installed extension declares such a capability: it grants nothing.',
    ]);
    expect(roleFindings(roles, DECLARED).map(({ result }) => result)).to.deep.equal(['warn', 'warn']);
    expect(roleFindings(ROLES, DECLARED).map(({ result }) => result)).to.deep.equal(['pass']);
  });
});
