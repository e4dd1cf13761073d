import type { Launcher } from './launcher.js';

export const native: Launcher = {
  runtime: 'native',
  aliases: ['binary'],
  programs: [],
  args: [],
  versionArgs: [],
  extension: '',
  hint: 'Nothing to install: the hook is a program of its own.',
  scaffold: {
    comment: '#',
    ingest: `#!/bin/sh
# Replace this file with your compiled program.
# One JSON object comes on standard input: type, agent_id, message, peer_id.
cat > /dev/null
echo '{"type":"ingest_result","memories":[]}'
`,
    after_turn: `#!/bin/sh
# Replace this file with your compiled program.
# One JSON object comes on standard input: type, agent_id, message, peer_id, messages.
cat > /dev/null
echo '{"type":"ok"}'
`,
  },
};
