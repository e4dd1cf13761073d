/** The drawing of a workflow: what leads to what, and that nothing stands on something else. */
import { expect } from 'chai';
import { BOX, drawn, type DrawnStep, linesOf } from '../panels/workflows/layout.js';

const step = (name: string, fields: Partial<DrawnStep> = {}): DrawnStep => ({ name, mode: 'sequential', depends_on: [], ...fields });
const said = (steps: readonly DrawnStep[]): string[] => linesOf(steps).map(({ from, to }) => `${from} > ${to}`);

describe('the drawing of a workflow', () => {
  it('leads from step to step, with steps of fan_out side by side', () => {
    const steps = [step('ask'), step('one', { mode: 'fan_out' }), step('two', { mode: 'fan_out' }), step('all', { mode: 'collect' }), step('end')];
    expect(said(steps)).to.deep.equal(['ask > one', 'ask > two', 'one > all', 'two > all', 'all > end']);
    expect(said([step('pick', { mode: 'branch', arms: JSON.parse('[{"then":"b"},{"then":"a"}]') }), step('a'), step('b')])).to.deep.equal(['pick > a', 'a > b', 'pick > b']);
  });

  it('follows what steps depend on, and puts no box on another', () => {
    const steps = [step('a'), step('b', { depends_on: ['a'] }), step('c', { depends_on: ['a'] }), step('d', { depends_on: ['b', 'c'] }), step('alone')];
    expect(said(steps)).to.deep.equal(['a > b', 'a > c', 'b > d', 'c > d']);
    const { places, lines, width, height } = drawn(steps);
    const at = (name: string) => places.get(name) ?? { x: Number.NaN, y: Number.NaN };
    expect(at('a').y).to.be.lessThan(at('b').y).and.lessThan(at('c').y);
    expect(at('d').y).to.be.greaterThan(at('c').y);
    const all = [...places.values()];
    for (const [place, one] of all.entries()) for (const other of all.slice(place + 1)) expect(Math.abs(one.x - other.x) >= BOX.width || Math.abs(one.y - other.y) >= BOX.height).to.equal(true);
    for (const { x, y } of all) expect([x >= 0, y >= 0, x + BOX.width <= width, y + BOX.height <= height]).to.deep.equal([true, true, true, true]);
    expect(lines.every(({ path }) => /^M[\d.]+ [\d.]+( L[\d.]+ [\d.]+)+$/.test(path))).to.equal(true);
  });
});
