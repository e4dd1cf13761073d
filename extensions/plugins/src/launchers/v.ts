import type { Launcher } from './launcher.js';

export const v: Launcher = {
  runtime: 'v',
  aliases: ['vlang'],
  programs: ['v'],
  args: ['-no-retry-compilation', 'run'],
  versionArgs: ['--version'],
  extension: '.v',
  hint: 'Install V: https://vlang.io',
  needsFolder: true,
  env: (cache) => ({ VCACHE: `${cache}/v`, VTMP: `${cache}/v-tmp` }),
  compile: (script, cache) => ['-no-retry-compilation', '-o', `${cache}/compiled`, script],
  scaffold: {
    comment: '//',
    ingest: `import os

fn main() {
	// One JSON object: type, agent_id, message, peer_id.
	_ := os.get_raw_lines_joined()
	println('{"type":"ingest_result","memories":[]}')
	flush_stdout()
}
`,
    after_turn: `import os

fn main() {
	// One JSON object: type, agent_id, message, peer_id, messages.
	_ := os.get_raw_lines_joined()
	println('{"type":"ok"}')
	flush_stdout()
}
`,
  },
};
