import type { Launcher } from './launcher.js';

const READ = `const { readFileSync } = require('node:fs');

const request = JSON.parse(readFileSync(0, 'utf8'));
`;

export const node: Launcher = {
  runtime: 'node',
  aliases: ['nodejs', 'js', 'javascript'],
  programs: ['node'],
  args: [],
  versionArgs: ['--version'],
  extension: '.js',
  hint: 'Install Node.js: https://nodejs.org',
  placeArgs: ['-e', "const p = require('node:path'); console.log(process.execPath); console.log(p.dirname(p.dirname(process.execPath)))"],
  dependencies: { file: 'package.json', program: 'npm', args: (cache) => ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--cache', `${cache}/npm`] },
  scaffold: {
    comment: '//',
    ingest: `${READ}
// request has type, agent_id, message and peer_id. Each memory is shown to the model with the message.
const memories = [];
// memories.push({ content: 'The person likes short answers.' });

console.log(JSON.stringify({ type: 'ingest_result', memories }));
`,
    after_turn: `${READ}
// request has type, agent_id, message, peer_id and messages.
console.log(JSON.stringify({ type: 'ok' }));
`,
  },
};
