import { expect } from 'chai';
import { readSource } from '../checks/sources.mjs';
import { checkPaper, checkWordsOf } from '../checks/words.mjs';

const messages = (findings: ReadonlyArray<{ line: number; message: string }>) => findings.map(({ line, message }) => `${line} ${message}`);
const found = (text: string, file = 'extensions/system/src/index.ts') => messages(checkWordsOf(readSource(file, text)));

describe('the words check', () => {
  it('names the word to write for a replaced one, in each part of an identifier', () => {
    expect(found("const createStrangers = 1;\nexport const MAX_MISFITS = 2;\nconst execDoor = 'exec';\n")).to.deep.equal([
      '1 "createStrangers": write thirdParty for "stranger"',
      '2 "MAX_MISFITS": write violation for "misfit"',
      '3 "execDoor": write adapter, or channel for how a message came for "door"',
    ]);
  });

  it('names them in comments and in texts', () => {
    expect(found("/** Judged by its schema. */\nconst hint = 'Mend the file by hand.';\n// the talk goes on\n")).to.deep.equal([
      '1 "judged": write validate, decide or policy',
      '3 "the talk": write conversation',
      '2 "mend": write fix',
    ]);
  });

  it('leaves columns, fields of the wire, single words and parts of other words alone', () => {
    expect(found("const row = { door_key: 1 };\nconst step = 'judge';\nconst outdoors = 'an indoor plant recommends it';\nconst string = restrain;\n")).to.deep.equal([]);
  });

  it('leaves what a test sends alone, and not its titles', () => {
    const text = "it('asks the stranger', () => {\n  send('is the door shut?');\n});\n";
    expect(found(text, 'extensions/system/test/one.test.ts')).to.deep.equal(['1 "stranger": write third party']);
  });

  it('looks at what people read too, but for the glossary, which names the words', () => {
    expect(messages(checkPaper('README.md', 'A stranger came.\n\n## Glossary\n| fix | mend |\n\n## After\nMend it.\n'))).to.deep.equal(['1 "stranger": write third party', '7 "mend": write fix']);
  });

  it('finds more of them on pages that people read, and leaves commands alone', () => {
    expect(messages(checkPaper('README.md', 'The run goes on.\nIt goes on to the next.\n`npm test -- -g "a panel from elsewhere"`\nA panel from elsewhere.\n'))).to.deep.equal([
      '4 "panel from elsewhere": write third-party',
      '1 "goes on": write continues, or is active',
    ]);
    expect(found('/** The run goes on. */\n')).to.deep.equal([]);
  });
});
