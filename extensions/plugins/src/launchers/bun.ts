import type { Launcher } from './launcher.js';

const READ = `const request = await Bun.stdin.json();
`;

export const bun: Launcher = {
  runtime: 'bun',
  aliases: [],
  programs: ['bun'],
  args: ['run'],
  versionArgs: ['--version'],
  extension: '.ts',
  hint: 'Install Bun: https://bun.sh/docs/installation',
  placeArgs: ['-e', 'console.log(process.execPath); console.log(process.execPath)'],
  env: (cache) => ({ BUN_INSTALL_CACHE_DIR: `${cache}/bun`, BUN_RUNTIME_TRANSPILER_CACHE_PATH: '0' }),
  dependencies: { file: 'package.json', program: 'bun', args: () => ['install', '--ignore-scripts'] },
  scaffold: {
    comment: '//',
    ingest: `${READ}
// request has type, agent_id, message and peer_id. Each memory is shown to the model with the message.
const memories: { content: string }[] = [];
// memories.push({ content: "The person likes short answers." });

console.log(JSON.stringify({ type: "ingest_result", memories }));
`,
    after_turn: `${READ}
// request has type, agent_id, message, peer_id and messages.
console.log(JSON.stringify({ type: "ok" }));
`,
  },
};
