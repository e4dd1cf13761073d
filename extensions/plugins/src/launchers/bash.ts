import type { Launcher } from './launcher.js';

export const bash: Launcher = {
  runtime: 'bash',
  aliases: ['sh', 'shell'],
  programs: ['bash'],
  args: [],
  versionArgs: ['--version'],
  extension: '.sh',
  hint: 'Install bash with the package manager of your system.',
  scaffold: {
    comment: '#',
    ingest: `#!/usr/bin/env bash
# One JSON object: type, agent_id, message, peer_id. The message is in $SVC_MESSAGE as well.
request=$(cat)

# Each memory is shown to the model with the message:
# echo '{"type":"ingest_result","memories":[{"content":"The person likes short answers."}]}'
echo '{"type":"ingest_result","memories":[]}'
`,
    after_turn: `#!/usr/bin/env bash
# One JSON object: type, agent_id, message, peer_id, messages.
request=$(cat)

echo '{"type":"ok"}'
`,
  },
};
