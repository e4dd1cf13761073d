/** Everything that reads what third parties, models, pages and providers send takes time in proportion to it: each is fed its worst case at five sizes, and at ten where those leave a doubt. */
import { isHostGranted, lineOfPath, matchesPattern, nearest, scanToml, sse } from '@svc/api';
import { createParser } from 'eventsource-parser';
import { canonicalHost } from '../../kernel/platform/src/adapters/address-policy.js';
import { createJsonMeasure } from '../../kernel/platform/src/http/bodies/json-measure.js';
import { describeJsonFault } from '../../kernel/platform/src/http/bodies/json-position.js';
import { splitTarget } from '../../kernel/platform/src/http/call.js';
import { parseQuery } from '../../kernel/platform/src/http/request.js';
import { plainText } from '../../kernel/platform/src/log/fields.js';
import { createRedactor } from '../../kernel/platform/src/log/redactor.js';
import { loadToml } from '../../kernel/platform/src/config/file/toml-parse.js';
import { excessOf } from '../../extensions/agents/src/manifest/toml-depth.js';
import { calculate } from '../../extensions/llm/src/drivers/arithmetic.js';
import { createLineEnds } from '../../extensions/llm/src/drivers/line-ends.js';
import { stepsOf } from '../../extensions/llm/src/drivers/plain-request.js';
import { failureOfAnswer } from '../../extensions/llm/src/call/model-failure.js';
import { withoutSecrets } from '../../extensions/llm/src/call/secret-words.js';
import { normalizeBaseUrl } from '../../extensions/providers/src/addresses/base-url.js';
import { parseClientFrame } from '../../extensions/runs/src/frames/client-frame.js';
import { createLineSearch, SEARCH_STEPS } from '../../extensions/tools/src/builtin/line-search.js';
import { parsePatch } from '../../extensions/tools/src/builtin/patch-format.js';
import { applyHunks } from '../../extensions/tools/src/builtin/patch-hunks.js';
import { canonicalJson } from '../../extensions/tools/src/call-digest.js';
import { capText } from '../../extensions/tools/src/result-size.js';
import pageText from '../../extensions/tools/src/workers/page-text.js';
import { plainPage } from '../../extensions/tools/src/workers/plain-page.js';
import { shapeOf } from '../../extensions/tools/src/workers/page-shape.js';
import { expectLinear } from './growth.js';

const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
/** What such a text is made of, repeated to the size; and what stands before and after. */
type Case = readonly [piece: string, before?: string, after?: string];
const text =
  ([piece, before = '', after = '']: Case) =>
  (size: number): string =>
    before + piece.repeat(Math.max(1, Math.floor(size / piece.length))) + after;

describe('the worst case of every reader grows with its size, no faster', function () {
  this.timeout(120_000);
  const holds = (what: string, largest: number, cases: readonly Case[], read: (input: string) => unknown): void => {
    it(what, () => {
      for (const one of cases) expectLinear(`${what}, ${JSON.stringify(one)}`, largest, text(one), read);
    });
  };

  holds(
    'patches, as they are read',
    100_000,
    [
      ['\n', '*** Begin Patch\n*** Update File: x\n@@\n', '-a\n*** End Patch'],
      [' \n', '*** Begin Patch\n*** Update File: x\n@@\n-a\n', '*** End Patch'],
      ['@@\n-a\n', '*** Begin Patch\n*** Update File: x\n', '*** End Patch'],
      [' @@', '*** Begin Patch\n*** Update File: x\n@@', '\n-a\n*** End Patch'],
      ['1', '*** Begin Patch\n*** Update File: x\n@@ -', '\n-a\n*** End Patch'],
      ['+\n', '*** Begin Patch\n*** Add File: x\n', '*** End Patch'],
    ],
    parsePatch,
  );

  it('patches, as their places are looked for', () => {
    const budget = () => ({ left: SEARCH_STEPS });
    const lines = (count: number, ...more: string[]) => [...Array.from({ length: count }, () => 'a'), ...more];
    const hunk = (texts: readonly string[]) => ({ anchor: '', atEnd: false, lines: texts.map((one) => ({ kind: 'remove' as const, text: one })) });
    expectLinear(
      'one long hunk',
      60_000,
      (size) => ({ file: lines(size, 'b', 'a').join('\n'), hunks: [hunk(lines(size / 4, 'b'))] }),
      ({ file, hunks }) => applyHunks(file, hunks, budget()),
    );
    expectLinear(
      'one that is not there',
      60_000,
      (size) => ({ file: ['b', ...lines(size)], wanted: lines(size / 4, 'b') }),
      ({ file, wanted }) => createLineSearch(file, budget()).find(wanted, 0, 'exact'),
    );
  });

  holds('JSON, as it arrives and where it is wrong', 200_000, [['[]', '['], ['"\\""'], ['\\\\', '"'], [' '], ['\n', '[', 'x'], ['1', '[', ']x'], ['"a":1,', '{'], ['{"a":', '']], (input) => {
    createJsonMeasure()(Buffer.from(input));
    describeJsonFault(input);
  });

  holds('queries and targets', 64_000, [['a=1&'], ['%41'], ['&'], ['a', 'http://'], ['/', 'x://']], (input) => parseQuery(splitTarget(`${input}?${input}`).query));

  holds(
    'hosts and base URLs',
    500_000,
    [
      ['.', '', 'x'],
      ['a.', '', ''],
    ],
    (input) => {
      canonicalHost(input);
      isHostGranted(['*.example.org'], input, '443');
    },
  );
  holds(
    'paths of base URLs',
    500_000,
    [
      ['/', 'http://x/', 'x'],
      ['/v1', 'http://x', ''],
    ],
    (input) => normalizeBaseUrl(input, 'openai'),
  );

  holds('frames of a socket', 100_000, [['\u0001'], ['"', '{"type":'], ['[', '{"type":']], parseClientFrame);
  holds('server-sent events, written', 200_000, [['\r'], ['\n'], ['\r\n']], (input) => sse('chunk', input));

  it('server-sent events, read', () => {
    for (const one of [['\r\n'], ['\n', '\r'], ['\r', '', '\n'], ['data: a\n'], ['data:\n', '', '\n\n'], ['a', 'data: '], [': ']] as Case[])
      expectLinear(`events of ${JSON.stringify(one)}`, 120_000, text(one), (input) => {
        const parser = createParser({ onEvent: () => undefined });
        const lineEnds = createLineEnds();
        for (let at = 0; at < input.length; at += 65_536) parser.feed(lineEnds(input.slice(at, at + 65_536)));
      });
  });

  holds(
    'what a provider says when it refuses',
    200_000,
    [['<style>'], ['<script></style>'], ['<'], ['bearer '], ['sk-'], ['a1'], ['a.'], [' '], ['[', ''], ['context '], ['context length ', '', '']],
    (input) => {
      failureOfAnswer(400, {}, input, 0);
      withoutSecrets(input, true);
    },
  );

  holds(
    'what the rehearsal is asked for',
    10_000,
    [
      [' ', 'write', 'x'],
      [' ', 'write a', 'to'],
      [' ', 'create file', 'x'],
      ['write '],
      ['write to '],
      ['write a in the new file named '],
      ['create a/'],
      ['create a '],
      ['file ', 'read '],
      [' ', 'read file', '!'],
      ['. '],
      [', and '],
      ['"'],
      ['" then '],
      ['“'],
      ['`a;'],
      ['a.', 'read '],
      ['1 . ', 'what is '],
      ['.', 'what is 1', ' 1'],
      ['show me all the '],
      ['what is the '],
    ],
    stepsOf,
  );
  holds('sums', 10_000, [['('], ['-'], ['1+'], ['2^'], [' ']], calculate);

  it('texts of TOML', async () => {
    const parse = await loadToml();
    for (const one of [
      ['a'],
      [' ', 'a ='],
      ['[a]\n'],
      ['a.', '', 'b = 1'],
      ['a.', '[', 'b]'],
      ['[', 'a = '],
      ['"', 'a = '],
      ['\\n', 'a = "', '"'],
      ['#'],
      ['\n'],
      ["'''"],
      ['{a=', 'x='],
      ['[[a]]\n'],
      ['[[a.b]]\n'],
    ] as Case[])
      expectLinear(`TOML of ${JSON.stringify(one)}`, 20_000, text(one), (input) => {
        // As manifests are read: keys of thousands of parts are told before the parser sees them.
        if (excessOf(input) === undefined) parse(input);
        // A manifest with such keys is refused before it is scanned for lines; the settings file is the operator's own.
        if (!one[1]?.startsWith('[') && one[0] !== 'a.') scanToml(input);
      });
  });
  holds('lines of manifests', 200_000, [[' ', '['], ['['], [' ', '[a', '\n'], [' ]', '['], ['a\n', '[b]\n'], [' ', '[b]\n', 'key'], ['"', '[b]\n', '']], (input) =>
    lineOfPath(scanToml(input), ['b', 'key']),
  );

  holds('patterns and nearest names', 100_000, [['a'], ['*a'], ['ab']], (input) => {
    matchesPattern(`*${'a'.repeat(400)}b*${'a'.repeat(400)}`, input);
    matchesPattern('*a*a*a*a*a*a*a*b', input);
    matchesPattern(input, 'a'.repeat(1_000));
    nearest(input, ['aaaa', 'bbbb']);
    nearest('aaaa', [input]);
  });

  it('lines of the log, with secrets to look for', () => {
    const redactor = createRedactor();
    for (let n = 0; n < 200; n++) redactor.register(`${'a'.repeat(40)}${n}secret`);
    for (const one of [['a'], ['a1'], ['secret'], [' ']] as Case[]) expectLinear(`a log line of ${JSON.stringify(one)}`, 100_000, text(one), (input) => plainText(input, redactor.scrub));
  });

  it('arguments and results of tools', () => {
    for (const one of [['é'], ['a'], ['\ud800']] as Case[]) expectLinear(`a result of ${one[0]}`, 300_000, text(one), (input) => capText(input, 64_000));
    expectLinear(
      'many arguments',
      20_000,
      (size) => Object.fromEntries(Array.from({ length: size }, (_, n) => [`k${n}`, n])),
      (args) => canonicalJson(args),
    );
    expectLinear(
      'deep arguments',
      1_000,
      (size) => JSON.parse(nested(size)) as unknown,
      (args) => canonicalJson(args),
    );
  });

  holds(
    'pages',
    24_000,
    [
      ['<div>'],
      ['<div><p>'],
      ['</b>', '<div>'.repeat(900)],
      ['<td>x', '<table><tr>'],
      ['<tr><td>x', '<table>'],
      ['<p>a</p>'],
      ['a<p>'],
      ['<'],
      ['<!--'],
      ['<a href=x>'],
      ['&#'],
      ['<li>x', '<ul>'],
      ['<br>'],
      ['a=b ', '<div '],
      ['colspan=', '<'],
    ],
    (html) => pageText({ html, url: 'https://example.org/', maxChars: 50_000 }),
  );
  holds('bare pages', 60_000, [['<'], ['<!--'], ['<!-- '], ['<script>'], ['</script'], ['<b'], ['<a>'], ['&#1'], ['&'], [' '], ['\n'], [' \n'], ['<!'], ['<?']], (html) => {
    shapeOf(html);
    plainPage(html, 50_000);
    plainPage(html, 10_000_000);
  });
});
