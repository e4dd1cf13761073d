import type { Launcher } from './launcher.js';

export const lua: Launcher = {
  runtime: 'lua',
  aliases: [],
  programs: ['lua', 'lua5.4', 'lua5.3'],
  args: [],
  versionArgs: ['-v'],
  extension: '.lua',
  hint: 'Install Lua: https://www.lua.org/download.html',
  scaffold: {
    comment: '--',
    ingest: `-- One JSON object: type, agent_id, message, peer_id. The message is in os.getenv("SVC_MESSAGE") as well.
local request = io.read("a")

-- Each memory is shown to the model with the message:
-- print('{"type":"ingest_result","memories":[{"content":"The person likes short answers."}]}')
print('{"type":"ingest_result","memories":[]}')
io.stdout:flush()
`,
    after_turn: `-- One JSON object: type, agent_id, message, peer_id, messages.
local request = io.read("a")

print('{"type":"ok"}')
io.stdout:flush()
`,
  },
};
