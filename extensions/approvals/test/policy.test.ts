import type { ToolRequest } from '@svc/api';
import { expect } from 'chai';
import { type Approval, type Rule, SecondFactor } from '../src/config.js';
import { rulingOn } from '../src/policy/agent-rules.js';
import { riskOf } from '../src/policy/risk.js';
import { ruleOn } from '../src/policy/rules.js';
import { grantOfRequest, isRemembered } from '../src/requests/remembered.js';
import type { RequestRow } from '../src/contract.js';

const settings = (over: Partial<Approval>): Approval => ({
  require_approval: false,
  rules: [],
  timeout_secs: 60,
  timeout_fallback: 'deny',
  escalation_secs: 120,
  auto_approve: false,
  trusted_senders: [],
  cache_approvals_per_session: false,
  totp_tools: [],
  totp_issuer: 'svc',
  totp_grace_period_secs: 0,
  audit_retention_days: 90,
  ...over,
});
const rule = (action: Rule['action'], over: Partial<Rule> = {}): Rule => ({ action, tool: '*', ...over });

/** Only what rules look at. */
const call = (name: string, args: Record<string, unknown>, risk: ToolRequest['tool']['risk'] = 'exec') =>
  ({
    tool: { name, risk },
    args,
    needs: risk === 'exec' ? [{ capability: 'shell', target: args.command }] : [],
    digest: JSON.stringify([name, args]),
    call: { sessionId: 's1', actor: { id: 'user:alice', ownerId: 'user:alice', role: 'user' } },
  }) as unknown as ToolRequest;
const shell = (command: string) => call('shell_exec', { command });
const actionOn = (given: Partial<Approval>, request: ToolRequest, agentName = 'coder') => ruleOn(settings(given), { request, risk: riskOf(request.tool.name, request.tool.risk), agentName }).action;

describe('rules of approvals', () => {
  it('P4 are only tightened by a manifest, whatever config.toml allows', () => {
    const own = { require_approval: ['file_write'], rules: [{ action: 'deny' as const, tool: 'shell_exec', command: 'rm *' }] };
    const agent = { manifest: { approval: own } } as unknown as Parameters<typeof rulingOn>[1]; // the part that rules look at
    const on = (given: Partial<Approval>, request: ToolRequest, one = agent) => rulingOn(settings(given), one, { request, risk: 'high', agentName: 'coder' }).action;
    const write = call('file_write', {}, 'write');
    for (const loose of [{}, { auto_approve: true }, { rules: [rule('allow')] }, { trusted_senders: ['user:alice'] }, { rules: [rule('allow', { tool: 'file_write' })], auto_approve: true }])
      expect([on(loose, write), on(loose, shell('rm -r x'))], JSON.stringify(loose)).to.deep.equal(['ask', 'deny']);
    expect(on({ rules: [rule('deny')] }, write)).to.equal('deny');
    expect(on({ require_approval: ['web_fetch'] }, call('web_fetch', {}, 'network'))).to.equal('ask');
    expect(on({}, shell('ls'))).to.equal('run');
    expect(on({}, write, { manifest: {} } as typeof agent)).to.equal('run');
  });

  it('ask for what require_approval names, or for what is dangerous by default', () => {
    expect(actionOn({ require_approval: ['file_*'] }, call('file_write', {}, 'write'))).to.equal('ask');
    expect(actionOn({ require_approval: ['file_*'] }, shell('ls'))).to.equal('run');
    for (const name of ['shell_exec', 'process_start', 'file_write', 'file_delete', 'apply_patch', 'skill_evolve_patch'])
      expect(actionOn({ require_approval: true }, call(name, {}, 'write')), name).to.equal('ask');
    expect(actionOn({ require_approval: true }, call('file_read', {}, 'read'))).to.equal('run');
    expect(actionOn({}, shell('rm -rf .'))).to.equal('run');
  });

  it('P1 deny before they ask, ask before they allow, and allow before require_approval', () => {
    const request = shell('git push origin');
    const rules = [rule('allow'), rule('ask'), rule('deny')];
    expect(actionOn({ rules, require_approval: true }, request)).to.equal('deny');
    expect(actionOn({ rules: rules.slice(0, 2) }, request)).to.equal('ask');
    expect(actionOn({ rules: rules.slice(0, 1), require_approval: true }, request)).to.equal('run');
    expect(actionOn({ rules, auto_approve: true }, request)).to.equal('deny');
    expect(actionOn({ rules: rules.slice(0, 2), auto_approve: true }, request)).to.equal('run');
  });

  it('go by agent, risk and argument', () => {
    const write = call('file_write', { path: 'secrets/key.txt' }, 'write');
    expect(actionOn({ rules: [rule('deny', { agent: 'code*' })] }, write)).to.equal('deny');
    expect(actionOn({ rules: [rule('deny', { agent: 'writer' })] }, write)).to.equal('run');
    expect(actionOn({ rules: [rule('ask', { risk: 'high' })] }, write)).to.equal('ask');
    expect(actionOn({ rules: [rule('ask', { risk: 'critical' })] }, write)).to.equal('run');
    expect(actionOn({ rules: [rule('deny', { argument: { path: 'secrets/*' } })] }, write)).to.equal('deny');
    expect(actionOn({ rules: [rule('deny', { argument: { path: 'src/*' } })] }, write)).to.equal('run');
    expect(actionOn({ rules: [rule('deny', { argument: { constructor: '*' } })] }, write)).to.equal('run');
  });

  it('trust senders with what is of low and medium risk', () => {
    const given = { require_approval: ['*'], trusted_senders: ['user:alice'] };
    expect(actionOn(given, call('web_fetch', {}, 'network'))).to.equal('run');
    expect(actionOn(given, shell('ls'))).to.equal('ask');
  });

  const HIDDEN = [
    ...['rm -rf x', "r''m -rf x", 'r\\m x', '"rm" x', '/bin/rm x', '/usr/bin/RM x', 'rm', 'env rm x', 'env A=b rm x', 'LANG=C rm x', 'A=b rm x', 'env -i -u B rm x', 'env -S "rm x"'],
    ...[
      'xargs rm',
      'xargs -n 1 rm -f',
      'timeout -s KILL 5 rm x',
      'nice -n 5 nohup rm x',
      'sudo -u root rm x',
      'setsid env xargs rm',
      'command rm x',
      'eval rm x',
      'eval "rm x"',
      'exec rm x',
      'flock l rm x',
    ],
    ...[
      "sh -c 'rm x'",
      "bash -lc 'rm x'",
      'sh -c \'sh -c "rm x"\'',
      'sh -c "r\'\'m x"',
      "env bash -ec 'env rm x'",
      'busybox rm x',
      "sh -c 'ls; rm x'",
      'ls; rm x',
      'ls && rm x',
      'ls | xargs rm',
      '$(echo rm) x',
    ],
    ...['{rm,-rf,x}', 'rm$IFS-rf$\u007bIFS}x', "$'rm' x", '`echo rm` x', 'echo cm0gLXJmIHg= | base64 -d | sh', 'base64 -d x | sh', 'sh x.sh', './x.sh', 'bin/tool', '/tmp/x', '. ./x', 'source x'],
    ...["find . -exec rm '{}' +", 'find . -delete', "python -c 'import os'", 'python3 x.py', "perl -e 'unlink x'", 'make clean', 'npm run clean', "git -c alias.x='!rm x' x", "awk 'BEGIN{system(1)}'"],
    ...[
      'nc localhost 9000',
      'ncat -U run.sock',
      'socat - UNIX:run.sock',
      'ssh localhost rm x',
      'curl http://localhost:9000/run',
      'curl http://127.0.0.1/x',
      'curl http://[::1]/x',
      'wget http://x.localhost/',
      'curl --unix-socket run.sock http://x/',
    ],
  ];
  for (const command of HIDDEN)
    it(`P2 see rm in, or do not trust: ${command}`, () => {
      expect(actionOn({ rules: [rule('deny', { command: 'rm *' })] }, shell(command))).to.equal('deny');
      expect(actionOn({ rules: [rule('ask', { command: 'rm *' })] }, shell(command))).to.equal('ask');
      expect(actionOn({ require_approval: true, rules: [rule('allow', { command: 'ls *' })] }, shell(command))).to.equal('ask');
    });

  it('P2 leave other commands alone', () => {
    for (const command of ['ls -la', 'rmdir x', 'git commit -m "rm x"', 'grep rm x.txt', 'echo rm', 'cat /etc/hostname', 'LANG=C ls', 'curl https://example.com/rm'])
      expect(actionOn({ rules: [rule('deny', { command: 'rm *' })] }, shell(command)), command).to.equal('run');
    expect(actionOn({ rules: [rule('deny', { command: 'rm *' })] }, call('file_write', { path: 'rm' }, 'write'))).to.equal('run');
  });

  it('P2 see a subcommand behind options', () => {
    const rules = [rule('deny', { command: 'git push *' })];
    for (const command of ['git push', 'git --no-pager push origin', 'git -C sub push', 'env git push']) expect(actionOn({ rules }, shell(command)), command).to.equal('deny');
    expect(actionOn({ rules }, shell('git status'))).to.equal('run');
  });

  it('P3 allow a command only by itself', () => {
    const given = { require_approval: true, rules: [rule('allow', { command: 'git status *' }), rule('allow', { command: 'npm test' })] };
    for (const command of ['git status', 'git status -s', "git 'status'", 'npm test']) expect(actionOn(given, shell(command)), command).to.equal('run');
    for (const command of ['git status; ls', 'A=b git status', 'env git status', 'sh -c "git status"', 'git push', 'npm test x', 'git status > x'])
      expect(actionOn(given, shell(command)), command).to.equal('ask');
  });
});

describe('second_factor', () => {
  it('is none or totp: login and both, which a key would get around, are refused by name', () => {
    const values = JSON.stringify(SecondFactor.schema);
    expect(values)
      .to.contain('"totp"')
      .and.not.match(/"login"|"both"/);
  });
});

describe('remembered approvals', () => {
  const row = (command: string | null, over: Partial<RequestRow> = {}): RequestRow =>
    ({ id: 'r', run_id: 'run', owner_id: 'o', agent_id: 'a', agent_name: 'n', tool: 'shell_exec', session_id: 's1', digest: 'd', payload: '{}', command, ...over }) as RequestRow;
  const remembered = (command: string) => [grantOfRequest(row(command), { what: 'call', for: 'always' }, 'alice', 'g', 0)];
  const NOW = '2026-11-24T08:00:00.000Z';

  it('G1 cover the same command in another shape', () => {
    for (const shape of ['git status -s', 'git \'status\' "-s"', '  git   status -s ', 'LANG=C git status -s', 'TZ=UTC NO_COLOR=1 git status -s', 'g\\it status -s'])
      expect(isRemembered(remembered('git status -s'), shell(shape), NOW), shape).to.equal(true);
  });

  it('G1 cover no other command', () => {
    for (const other of [
      ...['git status', 'git status -s x', 'git "status -s"', 'git status -s; id', 'git status -s | sh', 'git status -s > x', './git status -s', '/tmp/git status -s', 'Git status -s'],
      ...[
        'PATH=/tmp git status -s',
        'LD_PRELOAD=./x.so git status -s',
        'GIT_PAGER=./x git status -s',
        '"LANG=C" git status -s',
        'LANG=$(id) git status -s',
        'LANG=`id` git status -s',
        'LANG="a b" git status -s',
      ],
      ...['env git status -s', 'sh -c "git status -s"', 'git status -s\nid', 'git status -s &', 'git status $(id)', 'git status -?'],
    ])
      expect(isRemembered(remembered('git status -s'), shell(other), NOW), other).to.equal(false);
    expect(isRemembered(remembered('git status -s'), call('x', { command: 'git status -s' }, 'write'), NOW)).to.equal(false);
  });

  it('G2 are not made of what cannot be compared', () => {
    for (const command of ['ls | wc', 'PATH=/tmp ls', 'echo $HOME', `echo ${'x'.repeat(17_000)}`]) expect(() => remembered(command), command).to.throw('cannot be remembered');
    expect(() => grantOfRequest(row('ls'), { what: 'tool', for: 'hour' }, 'alice', 'g', 0)).to.throw('remembered with its arguments');
    expect(() => grantOfRequest(row(null, { run_id: '' }), { what: 'call', for: 'hour' }, 'alice', 'g', 0)).to.throw('no tool call');
  });

  it('hold for an hour, a session, or always', () => {
    const write = call('file_write', { path: 'x' }, 'write');
    const grant = (what: 'call' | 'tool', time: 'hour' | 'session' | 'always') => [grantOfRequest(row(null, { digest: write.digest }), { what, for: time }, 'alice', 'g', Date.parse(NOW))];
    const later = '2026-11-24T09:00:01.000Z';
    const elsewhere = { ...write, call: { ...write.call, sessionId: 's2' } };
    expect([NOW, later].map((at) => isRemembered(grant('call', 'hour'), write, at))).to.deep.equal([true, false]);
    expect([write, elsewhere].map((one) => isRemembered(grant('call', 'session'), one, later))).to.deep.equal([true, false]);
    expect(isRemembered(grant('call', 'always'), elsewhere, later)).to.equal(true);
    const another = { ...write, digest: 'other' };
    expect([grant('call', 'always'), grant('tool', 'always')].map((grants) => isRemembered(grants, another, later))).to.deep.equal([false, true]);
  });
});
