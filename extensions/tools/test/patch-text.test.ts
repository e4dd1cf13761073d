import { expect } from 'chai';
import { createLineSearch, SEARCH_STEPS } from '../src/builtin/line-search.js';
import { parsePatch } from '../src/builtin/patch-format.js';
import { applyHunks } from '../src/builtin/patch-hunks.js';

const patchOf = (...lines: string[]): string => ['*** Begin Patch', ...lines, '*** End Patch'].join('\n');
const problem = (patch: string): string => {
  try {
    parsePatch(patch);
  } catch (error) {
    return error instanceof Error ? error.message : '';
  }
  return 'it was read';
};
const hunksOf = (...lines: string[]) => {
  const [section] = parsePatch(patchOf('*** Update File: x', ...lines));
  return section?.kind === 'update' ? section.hunks : [];
};
const patched = (text: string, ...hunk: string[]): string => {
  const result = applyHunks(text, hunksOf(...hunk), { left: SEARCH_STEPS });
  return 'text' in result ? result.text : `problem: ${result.problem}`;
};

describe('the text of a patch', () => {
  it('is read section by section', () => {
    expect(
      parsePatch(patchOf('*** Add File: a', '+1', '+', '+2', '*** Delete File: b', '*** Update File:  c d ', '*** Move to:  e ', '@@ at', ' keep', '-old', '+new', '*** Add File: f')),
    ).to.deep.equal([
      { kind: 'add', path: 'a', content: '1\n\n2\n' },
      { kind: 'delete', path: 'b' },
      {
        kind: 'update',
        path: 'c d',
        moveTo: 'e',
        hunks: [
          {
            anchor: 'at',
            atEnd: false,
            lines: [
              { kind: 'keep', text: 'keep' },
              { kind: 'remove', text: 'old' },
              { kind: 'add', text: 'new' },
            ],
          },
        ],
      },
      { kind: 'add', path: 'f', content: '' },
    ]);
  });

  it('may have blank lines around it and between its sections, spaces after its marks, and any line ends', () => {
    const sections = [
      { kind: 'add', path: 'a', content: 'x\n' },
      { kind: 'delete', path: 'b' },
    ];
    expect(parsePatch('\n \n*** Begin Patch  \n\n*** Add File: a\n+x\n\n \n*** Delete File: b\n\n*** End Patch \nand more')).to.deep.equal(sections);
    expect(parsePatch(patchOf('*** Add File: a', '+x', '*** Delete File: b').replaceAll('\n', '\r\n'))).to.deep.equal(sections);
  });

  it('takes a blank line inside a hunk for an empty line that stays, and one before the next section for nothing', () => {
    const [hunk] = hunksOf('@@', '-a', '', '+b', '', '', '*** Delete File: y');
    expect(hunk?.lines).to.deep.equal([
      { kind: 'remove', text: 'a' },
      { kind: 'keep', text: '' },
      { kind: 'add', text: 'b' },
    ]);
    expect(hunksOf('@@', '-a', '+b', '', '@@', '-c', '+d').map(({ lines }) => lines.length)).to.deep.equal([3, 2]);
    expect(hunksOf('@@', '-a', '+b', '', '')[0]?.lines).to.have.length(2);
  });

  it('has hunks with and without a head, whose numbers say nothing', () => {
    expect(hunksOf('-a', '+b').map(({ anchor }) => anchor)).to.deep.equal(['']);
    expect(hunksOf('@@', '-a', '@@ f: @@', '-b', '@@ -1,2 +1,3 @@', '-c', '@@ -1 +1 @@', '-d', '@@x', '-e').map(({ anchor }) => anchor)).to.deep.equal(['', 'f:', '', '', 'x']);
    expect(hunksOf('@@ -1,2 is text', '-a', '@@ see -1 +1', '-b').map(({ anchor }) => anchor)).to.deep.equal(['-1,2 is text', 'see -1 +1']);
  });

  it('says of a hunk that it is the end of the file', () => {
    expect(hunksOf('@@', '-a', '*** End of File', '@@', '-b').map(({ atEnd }) => atEnd)).to.deep.equal([true, false]);
  });

  it('may have several blank lines between its last hunk and the next section', () => {
    for (const blanks of [[''], ['', ''], ['', ' ', '']])
      expect(
        parsePatch(patchOf('*** Update File: a', '*** Move to: b', ...blanks, '*** Delete File: c')).map(({ path }) => path),
        `${blanks.length}`,
      ).to.deep.equal(['a', 'c']);
  });

  it('may move a file without a hunk, and update none without either', () => {
    expect(parsePatch(patchOf('*** Update File: a', '*** Move to: b'))).to.deep.equal([{ kind: 'update', path: 'a', moveTo: 'b', hunks: [] }]);
    expect(problem(patchOf('*** Update File: a'))).to.match(/line 3: the update of a has no hunk/);
  });

  it('names the line that cannot be read', () => {
    expect(problem('\n\nhello')).to.match(/line 3: "\*\*\* Begin Patch"/);
    expect(problem('')).to.match(/"\*\*\* Begin Patch" was expected/);
    expect(problem(patchOf('*** Add File: a', '+x', 'y'))).to.match(/line 4: each line of an added file/);
    expect(problem(patchOf('*** Add File:  '))).to.match(/line 2: .*was expected/);
    expect(problem(patchOf('*** Update File: a', '@@', ' x', ' y'))).to.match(/line 6: this hunk changes no line/);
    expect(problem(patchOf('*** Update File: a', '@@', '-x', '*y'))).to.match(/line 5: each line of a hunk/);
    expect(problem(patchOf('', ' '))).to.match(/changes nothing/);
  });

  it('changes two hundred files at most', () => {
    const many = (count: number) => patchOf(...Array.from({ length: count }, (_, index) => `*** Delete File: f${index}`));
    expect(parsePatch(many(200))).to.have.length(200);
    expect(problem(many(201))).to.match(/changes more than 200 files/);
  });
});

describe('a hunk in its file', () => {
  it('makes an empty file out of the last line, and a first line out of an empty file', () => {
    expect(patched('a\n', '@@', '-a')).to.equal('');
    expect(patched('', '@@', '+a')).to.equal('a\n');
  });

  it('keeps what stands before, between and after', () => {
    expect(patched('0\na\n1\nb\n2\n', '@@', '-a', '+A', '@@', '-b')).to.equal('0\nA\n1\n2\n');
  });

  it('stands after its anchor, which may be its own first line', () => {
    expect(patched('f\nx\ng\nx\n', '@@ g', '-x')).to.equal('f\nx\ng\n');
    expect(patched('  g\nx\n', '@@ g', '-x', '+y')).to.equal('  g\ny\n');
    expect(patched('g\nx\n', '@@ g', '-g', '+h')).to.equal('h\nx\n');
    expect(patched('g\ng\nx\n', '@@ g', ' g', '-x')).to.equal('g\ng\n');
    expect(patched('f\nx\n', '@@ f', '+new')).to.equal('f\nnew\nx\n');
    expect(patched('f\nx\n', '@@ f', '+new', '*** End of File')).to.equal('f\nx\nnew\n');
    expect(patched('f\n', '@@ nowhere', '-f')).to.equal('problem: hunk 1 of 1: the line "nowhere" was not found');
  });

  it('prefers the place that fits to the letter to an earlier one with other spaces at the end', () => {
    expect(patched('a  \nb\na\n', '@@', '-a')).to.equal('a  \nb\n');
    expect(patched('a  \nb\n', '@@', '-a', '+c')).to.equal('c\nb\n');
    expect(patched('  a\n', '@@', '-a')).to.match(/were not found/);
  });

  it('fits the end of the file where it says so, and else has no place', () => {
    expect(patched('a\nb\na\n', '@@', '-a', '+c', '*** End of File')).to.equal('a\nb\nc\n');
    expect(patched('a\nb \n', '@@', '-b', '+c', '*** End of File')).to.equal('a\nc\n');
    expect(patched('a\nb\n', '@@', '-a', '*** End of File')).to.equal('problem: hunk 1 of 1: its lines are not the last ones of the file, beginning with "a"');
    expect(patched('a\n', '@@', '-a', '+b', '@@', ' a', '+c', '*** End of File')).to.match(/hunk 2 of 2: its lines are not the last/);
    expect(patched('a\n', '@@', '-b', '-a', '*** End of File')).to.match(/are not the last/);
  });

  it('is looked for after the ones before it, and says after which line of what they made', () => {
    expect(patched('a\nb\n', '@@', '-b', '+x', '+y', '@@', '-a')).to.equal('problem: hunk 2 of 2: its lines were not found after line 3, beginning with "a"');
    expect(patched('a\nb\n', '@@', '-c')).to.equal('problem: hunk 1 of 1: its lines were not found, beginning with "c"');
    expect(patched('a\nb\n', '@@ b', '-a')).to.equal('problem: hunk 1 of 1: its lines were not found after line 2, beginning with "a"');
    expect(patched('a\n', '@@', ' ', `-  ${'long'.repeat(50)}`)).to.match(/beginning with "(long){30}"$/);
  });

  it('keeps the spaces of every line that stays, before and after what goes', () => {
    expect(patched('a  \nb\nc  \nd\ne  \n', '@@', ' a', '-b', ' c', '-d', ' e')).to.equal('a  \nc  \ne  \n');
  });

  it('keeps a file’s line ends also where the last one is missing', () => {
    expect(patched('a\r\nb', '@@', '-a', '+x', '+y')).to.equal('x\r\ny\r\nb');
    expect(patched('a\nb', '@@', '-b', '+c', '+d')).to.equal('a\nc\nd');
  });
});

describe('what looking for lines may cost', () => {
  const cost = (work: (budget: { left: number }) => void): number => {
    const budget = { left: 1_000_000 };
    work(budget);
    return 1_000_000 - budget.left;
  };
  const lines = Array.from({ length: 100 }, (_, index) => String(index));

  it('is five steps for every line that is numbered, once, and one for each that is looked at', () => {
    expect(cost((budget) => createLineSearch(lines, budget).find(['nowhere'], 0, 'exact'))).to.equal(505);
    expect(cost((budget) => createLineSearch(lines, budget).find(['9'], 0, 'exact'))).to.equal(515);
    expect(cost((budget) => createLineSearch(lines, budget).find(['8', '9'], 5, 'exact'))).to.equal(515);
    // `9` stands there, and `1` later than it, and the two never together.
    expect(cost((budget) => createLineSearch([...lines, '1'], budget).find(['9', '1'], 1, 'exact'))).to.equal(505 + 10 + 100);
    const twice = cost((budget) => {
      const search = createLineSearch(lines, budget);
      search.find(['9'], 0, 'exact');
      search.find(['9'], 0, 'exact');
    });
    expect(twice).to.equal(530);
  });

  it('is all of the budget and no more', () => {
    const find = (left: number) => () => createLineSearch(lines, { left }).find(['9'], 0, 'exact');
    expect(find(515)()).to.equal(9);
    expect(find(514)).to.throw(/needs too many comparisons/);
    expect(() => applyHunks('x'.repeat(800), [], { left: 99 })).to.throw(/comparisons/);
    expect(applyHunks('x'.repeat(800), [], { left: 100 })).to.deep.equal({ text: 'x'.repeat(800) });
  });
});
