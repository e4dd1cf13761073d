import { Capabilities, type CapabilityOf, coversGrant, defineCapability, type GrantForm, type GrantOf, grantOf, needOf, patternFault } from '@svc/api';
import { isCapability } from '@svc/api/internal';
import { expect } from 'chai';

const description = 'Read calendars';
const Read = defineCapability('calendar_read', '1.0.0', { description, grant: 'names' });
const Sync = defineCapability('calendar_sync', '1.0.0', { description: 'Sync with these servers', grant: 'hosts' });
const Share = defineCapability('calendar_share', '1.0.0', { description: 'Share with everybody', grant: 'flag' });

describe('a declared capability', () => {
  it('is a plain value with all that it is validated by, frozen for all who share it', () => {
    expect(JSON.parse(JSON.stringify(Read))).to.deep.equal({ declares: 'capability', name: 'calendar_read', version: '1.0.0', description, grant: 'names' });
    expect(Object.isFrozen(Read)).to.equal(true);
    expect(isCapability(JSON.parse(JSON.stringify(Read)))).to.equal(true);
  });

  it('has no name of the interface, nor one that every object has', () => {
    const interfaces = [...Object.keys(Capabilities.properties), 'exec_policy', 'max_anything', 'private_network', 'full_shell'];
    for (const name of interfaces) expect(() => defineCapability(name, '1.0.0', { description, grant: 'flag' }), name).to.throw(`the capability ${name} is the interface's own`);
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'camera', 'Calendar_read', 'calendar__read', 'calendar_', '_read', 'calendar read', '', `calendar_${'x'.repeat(60)}`])
      expect(() => defineCapability(name, '1.0.0', { description, grant: 'flag' }), name).to.throw('use two or more lower-case words');
  });

  it('says what it grants, in a form that there is', () => {
    expect(() => defineCapability('calendar_read', '1.0.0', { description: ' ', grant: 'flag' })).to.throw('has no description');
    const odd: GrantForm = JSON.parse('"regex"');
    expect(() => defineCapability('calendar_read', '1.0.0', { description, grant: odd })).to.throw('has the grant "regex"; there are flag, names, hosts');
  });

  it('is told from data that only looks like one', () => {
    const without = (key: string) => Object.fromEntries(Object.entries(Read).filter(([name]) => name !== key));
    for (const odd of [
      null,
      5,
      [],
      {},
      { ...Read, declares: 'table' },
      { ...Read, name: 'shell' },
      { ...Read, grant: 'all' },
      { ...Read, name: 7 },
      ...['name', 'version', 'description', 'grant', 'declares'].map(without),
    ])
      expect(isCapability(odd), JSON.stringify(odd)).to.equal(false);
  });

  it('gives what is granted of it the form that it declares, and nothing for another form', () => {
    const patterns: GrantOf<typeof Read> = grantOf(Read, { declared: { calendar_read: ['work/*'] } });
    const isShared: GrantOf<typeof Share> = grantOf(Share, { declared: { calendar_share: true } });
    expect([patterns, isShared]).to.deep.equal([['work/*'], true]);
    for (const nothing of [{}, { declared: {} }, { declared: { calendar_read: true } }, { declared: Object.create({ calendar_read: ['*'] }) }]) expect(grantOf(Read, nothing)).to.deep.equal([]);
    for (const nothing of [{}, { declared: { calendar_share: ['*'] } }, { declared: { calendar_share: false } }]) expect(grantOf(Share, nothing)).to.equal(false);
  });

  it('covers names as text and hosts as hosts, and of each no more than the grant means', () => {
    const covered = (capability: CapabilityOf<'names' | 'hosts'>, granted: string, wanted: string) => coversGrant(capability, [granted], wanted);
    for (const [granted, wanted] of [
      ['*', 'anything'],
      ['work/*', 'work/monday'],
      ['work/*', 'work/*'],
      ['work/*', 'work/a*'],
    ] as const)
      expect(covered(Read, granted, wanted), `${granted} ${wanted}`).to.equal(true);
    for (const [granted, wanted] of [
      ['work/*', '*'],
      ['work/*', 'private'],
      ['work/a*', 'work/*'],
      ['work', 'Work'],
    ] as const)
      expect(covered(Read, granted, wanted), `${granted} ${wanted}`).to.equal(false);
    expect(covered(Sync, '*.example.org', 'cal.example.org:443')).to.equal(true);
    expect(covered(Sync, '10.0.0.0/8', '10.1.0.0/16')).to.equal(true);
    for (const [granted, wanted] of [
      ['*', '127.0.0.1'],
      ['*.example.org', 'example.org.evil.test'],
      ['example.org:443', 'example.org'],
      ['*', 'no host at all'],
    ] as const)
      expect(covered(Sync, granted, wanted), `${granted} ${wanted}`).to.equal(false);
  });

  it('knows a pattern that could never match', () => {
    expect(['work/*', ' '].map((pattern) => patternFault(Read, pattern))).to.deep.equal([undefined, 'is empty']);
    expect(['*', '*.example.org', '10.0.0.0/8', 'http://x', 'a b'].map((pattern) => patternFault(Sync, pattern) === undefined)).to.deep.equal([true, true, true, false, false]);
  });

  it('is named by what a call needs: with a target, or all of it', () => {
    expect([needOf(Read, 'work'), needOf(Read), needOf(Share)]).to.deep.equal([{ capability: 'calendar_read', target: 'work' }, { capability: 'calendar_read' }, { capability: 'calendar_share' }]);
  });
});
