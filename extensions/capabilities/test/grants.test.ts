import type { Capabilities } from '@svc/api';
import { virtualClock } from '@svc/platform/clock/clock';
import { expect } from 'chai';
import { createCallRate } from '../src/call-rate.js';
import { bound, GRANTS, type Grant, grantsOf, reviewOf, whyWithheld } from '../src/grants.js';

const RICH: Capabilities = {
  tools: ['*'],
  network: ['*', 'api.example.org:8443', '127.0.0.1:*', '10.0.0.0/8', 'localhost'],
  memory_read: ['*'],
  memory_write: ['self.*'],
  shell: ['git *', 'ls *', '*', 'python3 *'],
  agent_spawn: true,
  agent_message: ['*'],
  file_system: true,
  max_llm_tokens_per_hour: null,
};
const TABLE = { admin: GRANTS, user: ['agent_message', 'agent_spawn', 'file_system', 'network'] as Grant[], viewer: [] };

describe('what a role may grant', () => {
  it('G2 is all for owners, the table for others, and nothing for who is not known', () => {
    expect(grantsOf('owner', { admin: [], user: [], viewer: [] })).to.equal(GRANTS);
    expect(grantsOf('user', TABLE)).to.equal(TABLE.user);
    expect(grantsOf(undefined, TABLE)).to.deep.equal([]);
    expect(grantsOf('public', TABLE)).to.deep.equal([]);
  });

  it('G1 takes mounts from an agent whose owner may not grant them', () => {
    const { capabilities, withheld } = bound({ ...RICH, mounts: ['/srv/a', '/srv/b:rw'] }, TABLE.user);
    expect(capabilities.mounts).to.deep.equal([]);
    expect(withheld.map(({ grant }) => grant)).to.include('mounts');
    expect(bound({ ...RICH, mounts: ['/srv/a'] }, TABLE.admin).capabilities.mounts).to.deep.equal(['/srv/a']);
  });

  it('G1 takes shell and private networks from an agent whose owner has the role user', () => {
    const { capabilities, withheld } = bound(RICH, TABLE.user);
    expect(capabilities.shell).to.deep.equal([]);
    expect(capabilities.network).to.deep.equal(['*', 'api.example.org:8443']);
    expect(withheld.map(({ grant, what }) => `${grant}: ${what}`)).to.deep.equal([
      'shell: shell = "git *"',
      'shell: shell = "ls *"',
      'full_shell: shell = "*"',
      'full_shell: shell = "python3 *"',
      'private_network: network = "127.0.0.1:*"',
      'private_network: network = "10.0.0.0/8"',
      'private_network: network = "localhost"',
    ]);
  });

  it('G1 tells a program from a shell', () => {
    expect(bound(RICH, [...TABLE.user, 'shell']).capabilities.shell).to.deep.equal(['git *', 'ls *']);
    expect(bound(RICH, [...TABLE.user, 'full_shell']).capabilities.shell).to.deep.equal(['*', 'python3 *']);
  });

  it('G3 takes away nothing else, and everything that needs a permission from who has none', () => {
    expect(bound(RICH, GRANTS).capabilities).to.equal(RICH);
    expect(bound(RICH, TABLE.user).capabilities).to.deep.include({ tools: ['*'], memory_read: ['*'], agent_spawn: true, agent_message: ['*'], file_system: true });
    expect(bound(RICH, []).capabilities).to.deep.include({ shell: [], network: [], agent_spawn: false, agent_message: [], file_system: false, tools: ['*'] });
  });

  it('is named with the grant, the permission and who can, when it is not enough', () => {
    expect(whyWithheld({ grant: 'shell', what: 'shell = "cat *"' }, 'user')).to.equal(
      '[capabilities] shell = "cat *" needs the permission shell, and its owner has the role user, which may not grant that. An owner or admin of this daemon can: make the agent themselves, or add "shell" to user under [capabilities] in config.toml.',
    );
    expect(whyWithheld({ grant: 'network', what: 'network = "*"' }, undefined)).to.match(/not known to this daemon/);
  });

  it('is remarked on when it is worth more than it looks', () => {
    const remarks = (...shell: string[]) => reviewOf({ ...RICH, shell });
    expect(remarks('ls *', 'cat notes.txt', '/opt/tool *')).to.deep.equal([]);
    expect(remarks('*')[0]).to.match(/whole shell.*keys included/);
    expect(remarks('*', 'ls *')).to.have.length(1);
    expect(remarks('make *')[0]).to.match(/"make \*" names a program that runs any code/);
    expect(remarks('git *')[0]).to.match(/"git \*" names a program that can run others/);
    expect(remarks('./run.sh *')[0]).to.match(/in the workspace, which the agent may rewrite/);
  });
});

describe('the rate of tool calls', () => {
  it('lets so many through in any minute, for each agent by itself, and says when the next one may come', async () => {
    const clock = virtualClock(0);
    const rate = createCallRate(clock);
    expect([rate.take('a', 2), rate.take('a', 2), rate.take('a', 2), rate.take('b', 2)]).to.deep.equal([undefined, undefined, 60_000, undefined]);
    await clock.advance(59_999);
    expect(rate.take('a', 2)).to.equal(1);
    await clock.advance(1);
    expect([rate.take('a', 2), rate.take('a', 2), rate.take('a', 2)]).to.deep.equal([undefined, undefined, 60_000]);
  });
});
