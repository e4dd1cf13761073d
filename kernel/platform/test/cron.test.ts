/** Cron expressions as functions: when they are due, and what is said of those that are wrong. */
import { cronFault, isSvcError, timeZoneFault, violations } from '@svc/api';
import { expect } from 'chai';
import { nextCronTime } from '../src/clock/cron.js';
import { loadAjv } from '../src/schema/ajv.js';

const times = async (expression: string, zone: string, from: string, count: number): Promise<string[]> => {
  const found: string[] = [];
  for (let at = Date.parse(from); found.length < count; ) {
    at = await nextCronTime(expression, zone, at);
    found.push(new Date(at).toISOString().slice(0, 16));
  }
  return found;
};

describe('cron expressions', () => {
  it('are due at the local time of their zone, in summer and in winter', async () => {
    expect(await times('30 3 * * 1-5', 'Europe/Berlin', '2026-10-23T00:00:00Z', 3)).to.deep.equal(['2026-10-23T01:30', '2026-10-26T02:30', '2026-10-27T02:30']);
    expect(await times('0 0 1 */3 *', 'America/New_York', '2026-01-02T00:00:00Z', 2)).to.deep.equal(['2026-04-01T04:00', '2026-07-01T04:00']);
  });

  it('N1 are due at the change of the clock where it leaves their time out, and once where their time comes twice', async () => {
    expect(await times('30 2 * * *', 'Europe/Berlin', '2026-03-28T12:00:00Z', 2)).to.deep.equal(['2026-03-29T01:00', '2026-03-30T00:30']);
    expect(await times('0,30 2 * * *', 'Europe/Berlin', '2026-03-28T12:00:00Z', 2)).to.deep.equal(['2026-03-29T01:00', '2026-03-30T00:00']);
    expect(await times('15 2 * * *', 'Australia/Lord_Howe', '2026-10-03T00:00:00Z', 2)).to.deep.equal(['2026-10-03T15:30', '2026-10-04T15:15']);
    expect(await times('30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00:00Z', 2)).to.deep.equal(['2026-10-25T00:30', '2026-10-26T01:30']);
  });

  it('N1 for every hour are due throughout an hour that the clock repeats, and none is due twice in a gap', async () => {
    const quarters = await times('*/15 * * * *', 'Europe/Berlin', '2026-10-24T23:50:00Z', 13);
    expect(quarters).to.deep.equal(Array.from({ length: 13 }, (_, nth) => new Date(Date.parse('2026-10-25T00:00:00Z') + nth * 900_000).toISOString().slice(0, 16)));
    expect(await times('*/15 * * * *', 'Europe/Berlin', '2026-03-29T00:30:00Z', 3)).to.deep.equal(['2026-03-29T00:45', '2026-03-29T01:00', '2026-03-29T01:15']);
    expect(await times('40 * * * *', 'Europe/Berlin', '2026-10-24T23:50:00Z', 3)).to.deep.equal(['2026-10-25T00:40', '2026-10-25T01:40', '2026-10-25T02:40']);
    // Half an hour is repeated there.
    expect(await times('40 * * * *', 'Australia/Lord_Howe', '2026-04-04T13:50:00Z', 3)).to.deep.equal(['2026-04-04T14:40', '2026-04-04T15:10', '2026-04-04T16:10']);
    expect(await times('0,30 * 25 10 *', 'Europe/Berlin', '2026-10-20T00:00:00Z', 8)).to.deep.equal([
      '2026-10-24T22:00',
      '2026-10-24T22:30',
      '2026-10-24T23:00',
      '2026-10-24T23:30',
      '2026-10-25T00:00',
      '2026-10-25T00:30',
      '2026-10-25T01:00',
      '2026-10-25T01:30',
    ]);
    expect(await times('*/30 * 1 * *', 'America/New_York', '2026-10-20T00:00:00Z', 4)).to.deep.equal(['2026-11-01T04:00', '2026-11-01T04:30', '2026-11-01T05:00', '2026-11-01T05:30']);
  });

  it('N2 are due on a day of the month or of the week where both are given, and go over Sunday', async () => {
    expect(await times('0 2 13 * 5', 'UTC', '2026-11-07T00:00:00Z', 2)).to.deep.equal(['2026-11-13T02:00', '2026-11-20T02:00']);
    expect(await times('0 2 13 * 1', 'UTC', '2026-11-10T00:00:00Z', 2)).to.deep.equal(['2026-11-13T02:00', '2026-11-16T02:00']);
    expect(await times('0 2 ? * 6-1', 'UTC', '2026-11-06T00:00:00Z', 4)).to.deep.equal(['2026-11-07T02:00', '2026-11-08T02:00', '2026-11-09T02:00', '2026-11-14T02:00']);
    expect(await times('0 2 29 2 *', 'UTC', '2026-11-06T00:00:00Z', 1)).to.deep.equal(['2028-02-29T02:00']);
  });

  it('N3 pass over a day that a month does not have, and no other day with it', async () => {
    for (const days of ['1-31/10', '1,11,21,31', '*/10'])
      expect(await times(`0 1 ${days} * *`, 'UTC', '2026-02-15T00:00:00Z', 5), days).to.deep.equal([
        '2026-02-21T01:00',
        '2026-03-01T01:00',
        '2026-03-11T01:00',
        '2026-03-21T01:00',
        '2026-03-31T01:00',
      ]);
    expect(await times('0 1 1,30 * *', 'UTC', '2026-02-01T02:00:00Z', 2)).to.deep.equal(['2026-03-01T01:00', '2026-03-30T01:00']);
    expect(await times('0 1 1,30 2 *', 'UTC', '2026-02-01T02:00:00Z', 1)).to.deep.equal(['2027-02-01T01:00']);
    expect(await times('0 1 2,31 * 1', 'UTC', '2026-02-26T02:00:00Z', 2)).to.deep.equal(['2026-03-02T01:00', '2026-03-09T01:00']);
  });

  for (const [expression, fault] of [
    ['', 'it has 0 fields instead of 5'],
    ['0 3 * *', 'it has 4 fields instead of 5'],
    ['0 0 3 * * *', 'it has 6 fields instead of 5'],
    ['@daily', 'it has 1 fields instead of 5'],
    ['0 25 * * *', 'hour is 25, and 0 to 23 is possible'],
    ['60 3 * * *', 'minute is 60'],
    ['0 3 * JAN *', 'month is "JAN"'],
    ['0 3 L * *', 'day of month is "L"'],
    ['0 5-3 * * *', 'whose end is before its beginning'],
    ['*/0 * * * *', 'a step is written as'],
    ['5/10 * * * *', 'a step is written as'],
    ['0 3 31 2,4 *', 'no month that it names has such a day'],
    [`0 3 * * ${'1,'.repeat(100)}1`, 'longer than 200 characters'],
  ] as const)
    it(`says what is wrong with "${expression.slice(0, 20)}"`, async () => {
      expect(cronFault(expression)).to.contain(fault);
      const refused: unknown = await nextCronTime(expression, 'UTC', 0).catch((error: unknown) => error);
      expect(isSvcError(refused) && refused.code).to.equal('clock_cron');
    });

  it('tells a person who writes a setting what is wrong with it', async () => {
    const schema = { properties: { cron: { anyOf: [{ const: '' }, { type: 'string', format: 'cron' }] }, time_zone: { type: 'string', format: 'time-zone' } } };
    const validate = (await loadAjv())({ allErrors: true }).compile(schema);
    expect([{ cron: '' }, { cron: '0 3 * * *', time_zone: 'Asia/Tokyo' }].every((value) => validate(value))).to.equal(true);
    expect(validate({ cron: '0 25 * * *', time_zone: 'Berlin' })).to.equal(false);
    const said = violations('backup', schema, { cron: '0 25 * * *', time_zone: 'Berlin' }, [['cron'], ['time_zone']]).map(({ message }) => message);
    expect(said[0]).to.match(/\[backup\] cron must be .*"0 3 \* \* \*", got "0 25 \* \* \*": hour is 25/);
    expect(said[1]).to.contain('time_zone must be a string with the name of a time zone such as Europe/Berlin, got "Berlin": this system knows no such time zone');
    for (const zone of ['UTC', 'Europe/Berlin', 'America/Argentina/Buenos_Aires']) expect(timeZoneFault(zone), zone).to.equal(undefined);
    for (const zone of ['', '+02:00', 'Mars/Olympus']) expect(timeZoneFault(zone), zone).to.be.a('string');
  });
});
