import { parseGrant } from '@svc/api';
import { GRANT_PATTERN, type Grant, grantFaults, grantsOf, isGranted } from '@svc/api/internal';
import { expect } from 'chai';

const GOOD = [
  'kernel',
  'kernel:tools',
  'kernel:slash-commands',
  'kernel:settings',
  'env:SVC_API_KEY',
  'secrets:provider.openai',
  'secrets:provider.*',
  'egress:model',
  'egress:tool',
  'egress:webhook',
  'egress:origins',
  'exec',
  'exec:git',
  'exec:g++',
  'survivors',
  'kernel:extensions',
  'kernel:panels',
  'kernel:backups',
  'kernel:replicas',
  'kernel:audit',
  'files:workspaces',
  'files:uploads',
  'files:templates',
  'net:dial:mail.test',
  'net:dial:*.mail.test:993',
  'net:dial:10.0.0.0/8:25',
  'net:dial:[::1]:25',
  'net:dial:*',
  'net:listen',
  'net:fetch:api.weather.test',
  'net:fetch:*.weather.test:443',
  'net:listen:2525',
  'net:listen:0',
  'db:sql',
];
const BAD = [
  '',
  'Kernel',
  'kernel ',
  'kernel:shutdown',
  'env',
  'env:',
  'env:A-B',
  'env:*',
  'secrets',
  'secrets:',
  'secrets:*',
  'secrets:a*b',
  'egress',
  'egress:*',
  'egress:anything',
  'exec:',
  'exec:/bin/sh',
  'exec:../sh',
  'exec:sh -c',
  'files',
  'files:home',
  'net:dial',
  'net:dial:',
  'net:dial:host:99999',
  'net:dial:a b',
  'net:dial:user@host',
  'net:fetch:host:99999',
  'net:listen:70000',
  'net:listen:http',
  'db:*',
  '__proto__',
  'constructor',
  'toString',
];

describe('grants', () => {
  const of = (...texts: string[]): Grant[] => grantsOf({ grants: texts.map((grant) => ({ grant })), replace: 'stop-first' });

  it('G1 are a closed list with parameters of one form', () => {
    for (const text of GOOD) expect(parseGrant(text), text).to.be.an('object').with.property('text', text);
    for (const text of BAD) expect(parseGrant(text), text).to.be.a('string');
  });

  it('G1 have one pattern for the schema, which knows no more and no less but what only a parser can tell', () => {
    const pattern = new RegExp(GRANT_PATTERN);
    for (const text of GOOD) expect(pattern.test(text), text).to.equal(true);
    expect(BAD.filter((text) => pattern.test(text))).to.deep.equal(['net:dial:host:99999', 'net:fetch:host:99999']);
  });

  it('G1 are refused by name, with the form that is meant', () => {
    expect(grantFaults({ grants: [{ grant: 'kernle' }] })).to.deep.equal(['unknown grant "kernle"; did you mean kernel?']);
    expect(grantFaults({ grants: [{ grant: 'exec:/bin/sh' }] })[0]).to.contain('"exec:/bin/sh" has a parameter that is not valid; it is written exec or exec:<program>');
    expect(grantFaults({ grants: [{ grant: 'zzzzzzzzzzzzzz' }] })[0]).to.contain(
      'there are kernel, kernel:tools, kernel:slash-commands, kernel:settings, kernel:extensions, kernel:backups, kernel:replicas, kernel:panels, kernel:audit, actors',
    );
    expect(() => grantsOf({ grants: [{ grant: 'kernel' }, { grant: 'x' }] })).to.throw('unknown grant "x"');
  });

  it('a port that is listened on needs an area that stops before its successor starts', () => {
    for (const [hook, grant] of [
      ['http.authenticate', 'callers'],
      ['http.authorize', 'callers'],
      ['socket.upgrade', 'callers'],
      ['secret.resolve', 'secret-values'],
      ['secret.change', 'secret-values'],
    ] as const) {
      expect(grantFaults({ hooks: [{ name: hook }] })[0]).to.contain(`the hook ${hook} needs the grant "${grant}"`);
      expect(grantFaults({ hooks: [{ name: hook }], grants: [{ grant }] })).to.deep.equal([]);
    }
    expect(grantFaults({ hooks: [{ name: 'doctor.check' }, { name: 'toString' }] })).to.deep.equal([]);
    expect(grantFaults({ grants: [{ grant: 'net:listen:25' }] })[0]).to.contain('"replace": "stop-first"');
    expect(grantFaults({ grants: [{ grant: 'net:listen:25' }], replace: 'stop-first' })).to.deep.equal([]);
  });

  it('G2 cover what is narrower, and nothing of another kind', () => {
    expect(isGranted(of('exec'), 'exec', 'git')).to.equal(true);
    expect(isGranted(of('exec:git'), 'exec', 'git')).to.equal(true);
    for (const program of ['sh', 'git2', '/usr/bin/git', './git', undefined]) expect(isGranted(of('exec:git'), 'exec', program), String(program)).to.equal(false);
    expect(isGranted(of('net:listen:25'), 'net:listen', '25')).to.equal(true);
    for (const port of ['2525', undefined]) expect(isGranted(of('net:listen:25'), 'net:listen', port), String(port)).to.equal(false);
    expect(isGranted(of('net:listen'), 'net:listen', '2525')).to.equal(true);
    expect(isGranted(of('secrets:provider.*'), 'secrets', 'provider.openai')).to.equal(true);
    expect(isGranted(of('secrets:provider.*'), 'secrets', 'providers')).to.equal(false);
    expect(isGranted(of('kernel'), 'kernel:tools')).to.equal(false);
    expect(isGranted(of('egress:model', 'egress:tool'), 'egress:webhook')).to.equal(false);
    expect(isGranted(of('net:dial:*.mail.test:993'), 'net:dial', 'imap.mail.test:993')).to.equal(true);
    for (const where of ['imap.mail.test:143', 'mail.test:993', '10.0.0.1:993']) expect(isGranted(of('net:dial:*.mail.test:993'), 'net:dial', where), where).to.equal(false);
  });
});
