/** Words of a person for fields of a kind. */
import { Field, type JsonSchema, Optionally, type TSchema, Type } from '@svc/api';
import { expect } from 'chai';
import { kindValue } from '../src/areas/kind-values.js';
import { typedValue } from '../src/areas/input-values.js';

const NOW = new Date(2026, 10, 28, 12, 0); // a Saturday
const json = (schema: TSchema): JsonSchema => JSON.parse(JSON.stringify(schema));
const read = (schema: TSchema, text: string): unknown => typedValue({ name: 'x', schema: json(schema) }, text, '--x');
const local = (iso: unknown): string => new Date(String(iso)).toLocaleString('sv-SE').slice(0, 16);

describe('words for a kind of field', () => {
  it('are a time, by a day, a weekday or how long from now', () => {
    const at = (text: string): string => local(kindValue(json(Field.time()), text, '--x', NOW));
    const said = {
      'tomorrow 9:00': '2026-11-29 09:00',
      '18:30': '2026-11-28 18:30',
      'saturday 8:00': '2026-12-05 08:00',
      sunday: '2026-11-29 00:00',
      '2026-12-01': '2026-12-01 00:00',
      'in 1h30m': '2026-11-28 13:30',
    };
    for (const [text, expected] of Object.entries(said)) expect(at(text), text).to.equal(expected);
    expect(kindValue(json(Field.time()), '2026-12-01T09:00:00Z', '--x', NOW)).to.equal('2026-12-01T09:00:00.000Z');
    for (const wrong of ['2026-13-01', '2026-02-30', 'soon', '25:00', '']) expect(() => at(wrong), wrong).to.throw(`--x: "${wrong}" is not a date and time.`);
  });

  it('are a duration in the unit of the field, a percentage, and an amount of money', () => {
    expect([read(Field.duration('min'), '90'), read(Field.duration('min'), '1h30m'), read(Field.duration('s'), '2 min'), read(Field.duration('ms'), '1d')]).to.deep.equal([90, 90, 120, 86_400_000]);
    for (const wrong of ['30s', '5x', 'x']) expect(() => read(Field.duration('min'), wrong), wrong).to.throw('is not a duration in minutes');
    expect([read(Field.percent(), '40%'), read(Field.money(), '$0.50'), read(Field.money(), '5 USD')]).to.deep.equal([40, 0.5, 5]);
    expect(() => read(Field.cron(), '* * *')).to.throw('is not a cron expression');
  });

  it('are words for nothing and for the default', () => {
    expect([read(Optionally(Field.money()), 'no limit'), read(Field.money({ none: 0 }), 'no limit'), read(Optionally(Field.duration('min'), 'once'), 'once')]).to.deep.equal([null, 0, null]);
    expect(read(Field.duration('min', { default: 10 }), 'default')).to.equal(10);
    expect(() => read(Field.money(), 'no limit')).to.throw('is not an amount in US dollars');
  });

  it('a field that is an object or text takes a plain word as text', () => {
    const place = Type.Union([Type.Object({ kind: Type.String() }), Type.String()]);
    expect(read(place, 'telegram:7')).to.equal('telegram:7');
    expect(read(place, '{"kind":"none"}')).to.deep.equal({ kind: 'none' });
    expect(() => read(Type.Object({ kind: Type.String() }), 'telegram:7')).to.throw('is not JSON');
  });
});
