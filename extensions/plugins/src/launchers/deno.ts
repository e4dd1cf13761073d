import type { Launcher } from './launcher.js';

const READ = `const request = JSON.parse(await new Response(Deno.stdin.readable).text());
`;

export const deno: Launcher = {
  runtime: 'deno',
  aliases: ['ts', 'typescript'],
  programs: ['deno'],
  args: ['run', '--allow-read', '--allow-env'],
  versionArgs: ['--version'],
  extension: '.ts',
  hint: 'Install Deno: https://docs.deno.com/runtime/getting_started/installation',
  placeArgs: ['eval', 'console.log(Deno.execPath()); console.log(Deno.execPath())'],
  env: (cache) => ({ DENO_DIR: `${cache}/deno`, DENO_NO_UPDATE_CHECK: '1', NO_COLOR: '1' }),
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
