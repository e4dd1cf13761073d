/** SKILL.md as people write it by mistake: read all the same, with a warning that names the line, or refused with the line. */
import { expect } from 'chai';
import { readSkillFile, SkillFault } from '../src/format/skill-file.js';

const read = (...front: string[]) => readSkillFile(['---', ...front, '---', 'Do it.'].join('\n'), 'folder');
const said = (...front: string[]): string[] => read(...front).warnings.map(({ line, message }) => `${line}: ${message}`);
const LAUGHS = ['a: &a [x, x, x, x, x, x, x, x, x]', 'b: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a]', 'c: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b]', 'd: [*c, *c, *c, *c, *c, *c, *c, *c, *c]'];

describe('front matter that is no YAML', () => {
  for (const [kind, line, broken, name, description] of [
    ['a colon in a text', 3, ['name: one', 'description: Use when: it rains'], 'one', 'Use when: it rains'],
    ['a list with text after it', 4, ['name: one', 'description: Works.', 'argument-hint: [file] name'], 'one', 'Works.'],
    ['a quotation mark that is never closed', 3, ['name: one', 'description: "Works.'], 'one', '"Works.'],
    ['a tab as indentation', 4, ['name: one', 'metadata:', '\tversion: 2', 'description: Works.'], 'one', 'Works.'],
    ['a key that is there twice', 4, ['name: one', 'description: First.', 'description: Works.'], 'one', 'Works.'],
    ['a bracket that is never closed', 4, ['name: one', 'tags: [a, b', 'description: Works.'], 'one', 'Works.'],
  ] as const)
    it(`F2 is read line by line, with a warning that names the line: ${kind}`, () => {
      const skill = read(...broken);
      expect([skill.name, skill.description, skill.body]).to.deep.equal([name, description, 'Do it.']);
      const [warning] = skill.warnings;
      expect(warning?.message).to.include('was read line by line');
      expect(warning?.line).to.equal(line);
    });

  it('F2 takes no time for aliases that multiply, and runs nothing for a tag', () => {
    const began = performance.now();
    expect(said('name: one', 'description: Works.', ...LAUGHS).join()).to.include('was read line by line');
    expect(performance.now() - began).to.be.below(500);
    expect(read('name: one', 'description: !!js/function "function () { throw 1 }"').description).to.equal('function () { throw 1 }');
  });

  it('F3 is refused where it leaves no name or never ends, with the line', () => {
    const faultOf = (text: string): string => {
      try {
        return readSkillFile(text, '').name;
      } catch (error) {
        return error instanceof SkillFault ? `${error.line}: ${error.message}` : String(error);
      }
    };
    expect(faultOf('\n---\nname: one\n')).to.equal('2: the front matter has no closing ---');
    expect(faultOf('---\nname: ".."\ndescription: x\n---\n')).to.equal('2: the name ".." has no letter from a to z and no digit');
    expect(faultOf('---\n- one\n---\n')).to.equal('2: it has no name');
  });
});
