/** What stands above conversations in the list. */
import { expect } from 'chai';
import { dayOf, grouped } from '../panels/chat/session-groups.js';

const NOW = new Date(2026, 2, 30, 9, 0);
const NAMES = { today: 'Today', yesterday: 'Yesterday', week: 'Previous 7 days', locale: 'en-GB' };
const at = (...local: [number, number, number, number]): string => new Date(...local).toISOString();

describe('the groups of conversations', () => {
  it('are days of the reader, then a week, then months', () => {
    const groups: ReadonlyArray<readonly [string, string]> = [
      [at(2026, 2, 30, 0), 'Today'],
      [at(2026, 3, 2, 0), 'Today'],
      [at(2026, 2, 29, 23), 'Yesterday'],
      [at(2026, 2, 29, 0), 'Yesterday'],
      [at(2026, 2, 28, 23), 'Previous 7 days'],
      [at(2026, 2, 23, 1), 'Previous 7 days'],
      [at(2026, 2, 22, 23), 'March'],
      [at(2025, 11, 31, 12), 'December 2025'],
    ];
    for (const [iso, name] of groups) expect(dayOf(iso, NAMES, NOW), iso).to.equal(name);
  });

  it('keep the order that the list has', () => {
    expect(grouped([5, 4, 3, 2], (item) => (item > 3 ? 'large' : 'small'))).to.deep.equal([
      { name: 'large', items: [5, 4] },
      { name: 'small', items: [3, 2] },
    ]);
  });
});
