/** One setting changed in texts that people and other programs write. */
import { expect } from 'chai';
import { editToml } from '../../src/config/file/toml-edit.js';
import { loadToml, type ParseToml } from '../../src/config/file/toml-parse.js';

describe('config: a text in which one setting is changed', () => {
  let parse: ParseToml;
  before(async () => {
    parse = await loadToml();
  });
  const edit = (text: string, path: string, value: unknown): string => editToml(text, path.split('.'), value, parse);

  const cases: ReadonlyArray<readonly [what: string, text: string, path: string, value: unknown, wanted: string]> = [
    ['a comment behind the value', 'a = 1 # one\n', 'a', 2, 'a = 2 # one\n'],
    ['a hash in a string', 'a = "x # y" # z\n', 'a', 'q', 'a = "q" # z\n'],
    ['dotted keys beside it', 'api.x = 1 # x\napi.y = 2\n', 'api.z', 3, 'api.x = 1 # x\napi.y = 2\napi.z = 3\n'],
    ['a dotted key itself', 'api.x = 1 # x\n', 'api.x', 2, 'api.x = 2 # x\n'],
    ['a dotted key under a header', '[web]\nfetch.x = 1\n', 'web.fetch.x', 2, '[web]\nfetch.x = 2\n'],
    ['a section that is only there as a parent', '[memory.decay]\non = true # o\n', 'memory.rate', 1, '[memory.decay]\non = true # o\n\n[memory]\nrate = 1\n'],
    ['an inline table', 'm = { a = 1, b = "}, c = 2" } # in\n', 'm.a', 5, 'm = { a = 5, b = "}, c = 2" } # in\n'],
    ['the last of an inline table', 'm = { a = 1, b = 2 }\n', 'm.b', 3, 'm = { a = 1, b = 3 }\n'],
    ['an inline table in an inline table', 'm = { n = { a = 1 }, o = [ { a = 2 } ] }\n', 'm.n.a', 9, 'm = { n = { a = 9 }, o = [ { a = 2 } ] }\n'],
    ['a dotted key in an inline table', 'm = { n.a = 1 }\n', 'm.n.a', 9, 'm = { n.a = 9 }\n'],
    ['an inline table that lacks it', 'm = { a = 1 }\n', 'm.b', 2, 'm = { a = 1, b = 2 }\n'],
    ['an empty inline table', 'm = {} # e\n', 'm.b', 2, 'm = { b = 2 } # e\n'],
    ['the first of an inline table, taken out', 'm = { a = 1, b = 2 }\n', 'm.a', undefined, 'm = { b = 2 }\n'],
    ['the second, taken out', 'm = { a = 1, b = 2, c = 3 }\n', 'm.b', undefined, 'm = { a = 1, c = 3 }\n'],
    ['the only one, taken out', 'm = { a = 1 } # e\n', 'm.a', undefined, 'm = {} # e\n'],
    ['arrays of tables around it', '[[u]] # one\nname = "a"\n[[u]]\nname = "b"\n[log]\nlevel = "x"\n', 'log.level', 'y', '[[u]] # one\nname = "a"\n[[u]]\nname = "b"\n[log]\nlevel = "y"\n'],
    ['an array of tables before which it belongs', '[[u]]\nname = "a"\n', 'top', 1, 'top = 1\n\n[[u]]\nname = "a"\n'],
    ['a list over lines with comments', 'a = [\n  1, # "]\n  2,\n] # end\nb = 1\n', 'a', [3], 'a = [3] # end\nb = 1\n'],
    ['a multi-line string that looks like more', 'd = """\n[log]\nlevel = "fake"\n"""\n[log]\nlevel = "real"\n', 'log.level', 'new', 'd = """\n[log]\nlevel = "fake"\n"""\n[log]\nlevel = "new"\n'],
    ['a multi-line literal in its place', "a = '''\nx # y\n''' # z\n", 'a', 'q', 'a = "q" # z\n'],
    ['a multi-line string with quotes at its end', 'a = """x""""" # z\nb = 1\n', 'b', 2, 'a = """x""""" # z\nb = 2\n'],
    ['quoted names', '["log"]\n\'level\' = "x" # q\n', 'log.level', 'y', '["log"]\n\'level\' = "y" # q\n'],
    ['blanks around dots', '[ web . fetch ]\nx = 1\n', 'web.fetch.x', 2, '[ web . fetch ]\nx = 2\n'],
    ['Windows line ends', '# c\r\n[log]\r\nlevel = "x" # y\r\n', 'log.more', 1, '# c\r\n[log]\r\nlevel = "x" # y\r\nmore = 1\r\n'],
    ['no line end at all', '[log]\nlevel = "x"', 'log.level', 'y', '[log]\nlevel = "y"'],
    ['comments alone', '# nothing yet\n', 'log.level', 'y', '# nothing yet\n\n[log]\nlevel = "y"\n'],
    ['nothing', '', 'log.level', 'y', '[log]\nlevel = "y"\n'],
    ['dates and odd numbers beside it', 'd = 1979-05-27T07:32:00Z\nn = 1_000\nf = 6.02e23\ni = inf\na = 1\n', 'a', 2, 'd = 1979-05-27T07:32:00Z\nn = 1_000\nf = 6.02e23\ni = inf\na = 2\n'],
    ['a text with every escape', 'a = 1\n', 'a', 'q"\\\n\t\u0001\u007f é 😀', 'a = "q\\"\\\\\\n\\t\\u0001\\u007F é 😀"\n'],
    ['a tiny number', 'a = 1\n', 'a', 1e-11, 'a = 1e-11\n'],
  ];
  for (const [what, text, path, value, wanted] of cases) {
    it(`with ${what} is the same elsewhere`, () => {
      const edited = edit(text, path, value);
      expect(edited).to.equal(wanted);
      const got = path.split('.').reduce<unknown>((inner, name) => (inner as Record<string, unknown> | undefined)?.[name], parse(edited)); // a tree of tables
      expect(got).to.deep.equal(value);
    });
  }

  const refusals: ReadonlyArray<readonly [what: string, text: string, path: string, value: unknown, code: string]> = [
    ['is written as blocks', '[[u]]\nname = "a"\n', 'u', [], 'config_edit_refused'],
    ['has a value where a table would have to be', 'm = 5\n', 'm.a', 1, 'config_edit_refused'],
    ['stands in a list of inline tables', 'u = [ { a = 1 } ]\n', 'u.0.a', 2, 'config_edit_refused'],
    ['is to hold null', 'a = 1\n', 'a', [null], 'config_value_unwritable'],
    ['is to hold a number that is none', 'a = 1\n', 'a', Number.NaN, 'config_value_unwritable'],
    ['is to hold a number that cannot be kept exactly', 'a = 1\n', 'a', 2 ** 60, 'config_value_unwritable'],
  ];
  for (const [what, text, path, value, code] of refusals) {
    it(`that ${what} is refused by name`, () => {
      expect(() => edit(text, path, value))
        .to.throw()
        .with.property('code', code);
    });
  }
});
