import type { Migration } from '@svc/api';
import { expect } from 'chai';
import { hashSteps, recordMigration } from '../../src/storage/contract/migrations/migration-builder.js';
import { planMove } from '../../src/storage/move/move-plan.js';

describe('the plan of a move', () => {
  const first: Migration = { name: '0001_init', up: (m) => m.createTable('notes', { id: { kind: 'text', primaryKey: true } }) };
  const second: Migration = { name: '0002_x', up: (m) => m.addColumn('notes', 'x', { kind: 'text' }) };
  const whole: Migration = { name: '0001_tables', replaces: [first.name, second.name], up: (m) => m.createTable('notes', { id: { kind: 'text', primaryKey: true }, x: { kind: 'text' } }) };
  const next: Migration = { name: '0002_next', up: (m) => m.addColumn('notes', 'y', { kind: 'text' }) };
  const planned = (...applied: readonly Migration[]): unknown => {
    const books = new Map([['note__migrations', new Map(applied.map((one) => [one.name, hashSteps(recordMigration(one))]))]]);
    return planMove([{ id: 'note', tables: ['notes'], migrations: [whole, next] }], { applied: books, tables: [] })
      .tables.find(({ name }) => name === 'note__notes')
      ?.columns.map(({ name }) => name);
  };

  it('makes a table by the migration that joins those of the source, or by its own', () => {
    expect(planned(first, second)).to.deep.equal(['id', 'x']);
    expect(planned(whole, next)).to.deep.equal(['id', 'x', 'y']);
  });

  it('refuses a source that has only a part of it, and one that has another text', () => {
    expect(() => planned(first)).to.throw('migration 0002_x of note was never applied');
    expect(() => planned({ ...next, name: '0001_tables' })).to.throw('0001_tables of note');
  });
});
