import type { Launcher } from './launcher.js';

export const python: Launcher = {
  runtime: 'python',
  aliases: ['py', 'python3'],
  programs: ['python3', 'python', 'py'],
  args: [],
  versionArgs: ['--version'],
  extension: '.py',
  hint: 'Install Python 3: https://www.python.org/downloads',
  placeArgs: ['-c', 'import sys; print(sys.executable); print(sys.base_prefix); print(sys.prefix)'],
  env: (cache) => ({ PYTHONPATH: `${cache}/python`, PYTHONDONTWRITEBYTECODE: '1', PYTHONUNBUFFERED: '1' }),
  dependencies: {
    file: 'requirements.txt',
    program: 'python3',
    args: (cache) => ['-m', 'pip', 'install', '--disable-pip-version-check', '--no-input', '--target', `${cache}/python`, '--upgrade', '-r', 'requirements.txt'],
  },
  scaffold: {
    comment: '#',
    ingest: `import json
import sys

# One JSON object: type, agent_id, message, peer_id.
request = json.load(sys.stdin)

# Each memory is shown to the model with the message.
memories = []
# memories.append({"content": "The person likes short answers."})

print(json.dumps({"type": "ingest_result", "memories": memories}), flush=True)
`,
    after_turn: `import json
import sys

# One JSON object: type, agent_id, message, peer_id, messages.
request = json.load(sys.stdin)

print(json.dumps({"type": "ok"}), flush=True)
`,
  },
};
