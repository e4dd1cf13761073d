/** What an operation costs in lines, and which file counts as what. */
import { expect } from 'chai';

interface Lines {
  kindOf(file: string): string;
  linesOf(text: string): number;
  sumOf(rows: ReadonlyArray<Record<string, number | string>>): Record<string, number>;
  tableOf(rows: ReadonlyArray<Record<string, number | string>>): string[];
}

// A plain module of tools/, which is not built.
const { kindOf, linesOf, sumOf, tableOf } = (await import(`${process.cwd()}/tools/lines.mjs`)) as Lines;

describe('the lines of an area', () => {
  it('are told apart by where a file stands', () => {
    const kinds = [
      'src/routes/agents.ts',
      'src/contract.ts',
      'src/spawning.ts',
      'src/tables.ts',
      'src/search/search-store.ts',
      'migrations/0001_init.ts',
      'panels/files/tree.ts',
      'cli/words.ts',
      'test/panels/files.test.ts',
    ].map(kindOf);
    expect(kinds).to.deep.equal(['routes', 'routes', 'rules', 'store', 'store', 'store', 'page', 'cli', 'tests']);
  });

  it('are those that hold code: no blank ones, no comments, but what stands behind one', () => {
    expect(linesOf('/** About it. */\n\nconst a = 1; // one\n// two\n/*\n three\n */\n  b();\n')).to.equal(2);
  });

  it('are summed, and shared out among the operations', () => {
    const row = (area: string, operations: number, routes: number) => ({ area, operations, routes, rules: 0, store: 0, page: 0, cli: 0, tests: 3 });
    const rows = [row('a', 2, 30), row('b', 4, 60)];
    expect(sumOf(rows)).to.include({ operations: 6, routes: 90, tests: 6 });
    expect(
      tableOf(rows)
        .at(-1)
        ?.split(/\s{2,}/),
    ).to.deep.equal(['per operation', '15', '0', '0', '0', '0', '1']);
    expect(new Set(tableOf(rows).map((line) => line.length)).size, 'aligned').to.equal(1);
  });
});
