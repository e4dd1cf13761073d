/** What all policy checks of a tool call cost together: every tap of tool.before, on calls that none of them refuses. */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runProgram } from '../../bundle.mjs';
import { median, microseconds, percentile } from '../../figures.mjs';
import { against } from '../../ratios.mjs';
import { inRoot } from '../../../build/paths.mjs';

const TARGET_MS = 1;
const RULES = 20;
const EARLIER_CALLS = 200;
const KEY = 'bench-key-of-an-admin';

/** Commands, arguments, risks and tools, and none that fits the calls: all of them are looked at. */
const rules = Array.from({ length: RULES }, (_, n) => {
  const what = [`command = "git push origin release-${n} *"`, `tool = "file_*"\nargument = { path = "deploy/${n}/*" }`, `command = "terraform apply -target=${n}"`, `tool = "mcp_server_${n}_*"`][
    n % 4
  ];
  return `[[approval.rules]]\naction = "${n % 5 === 0 ? 'deny' : 'ask'}"\n${what}\n`;
}).join('');
const config = `api_key = "bench-root-key"\n${rules}[[users]]\nname = "bench"\nrole = "admin"\napi_key_hash = "sha256:${createHash('sha256').update(KEY).digest('hex')}"\n`;

export const run = async ({ isQuick }) => {
  const home = mkdtempSync(join(tmpdir(), 'svc-bench-policy-'));
  try {
    writeFileSync(join(home, 'config.toml'), config, { mode: 0o600 });
    const raw = await runProgram('policy', { calls: isQuick ? 2_000 : 10_000, home, releaseFile: inRoot('dist/release.json'), key: KEY, earlierCalls: EARLIER_CALLS });
    const rowOf = (tool, values, floor, preempted) => ({
      what: `policy checks together, a call of ${tool}, p99`,
      value: microseconds(percentile(values, 99)),
      floor: microseconds(percentile(floor, 99)),
      ...against(values, floor, 'lower'),
      target: `≤ ${TARGET_MS} ms`,
      met: percentile(values, 99) <= TARGET_MS,
      method: `every tap of tool.before (${raw.taps.join(', ')}) of a whole daemon, ${RULES} rules of [approval], ${EARLIER_CALLS} earlier calls, ${values.length} calls, without those in which the system took the processor away (${preempted}); p50 ${microseconds(median(values))}; floor: the digest of the call's arguments, p50 ${microseconds(median(floor))}; ratio of the medians`,
    });
    return { rows: [rowOf('shell_exec', raw.shell.chain, raw.shell.digest, raw.shell.preempted), rowOf('file_write', raw.write.chain, raw.write.digest, raw.write.preempted)], raw };
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
};
