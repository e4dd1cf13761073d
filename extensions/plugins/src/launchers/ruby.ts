import type { Launcher } from './launcher.js';

const READ = `require 'json'

request = JSON.parse($stdin.read)
`;

export const ruby: Launcher = {
  runtime: 'ruby',
  aliases: ['rb'],
  programs: ['ruby'],
  args: [],
  versionArgs: ['--version'],
  extension: '.rb',
  hint: 'Install Ruby: https://www.ruby-lang.org/en/documentation/installation',
  placeArgs: ['-e', "puts RbConfig.ruby; puts RbConfig::CONFIG['prefix']"],
  env: (cache) => ({ GEM_HOME: `${cache}/gems`, BUNDLE_PATH: `${cache}/gems`, BUNDLE_APP_CONFIG: `${cache}/bundle` }),
  dependencies: { file: 'Gemfile', program: 'bundle', args: () => ['install'] },
  scaffold: {
    comment: '#',
    ingest: `${READ}
# request has type, agent_id, message and peer_id. Each memory is shown to the model with the message.
memories = []
# memories << { content: 'The person likes short answers.' }

puts JSON.generate({ type: 'ingest_result', memories: memories })
$stdout.flush
`,
    after_turn: `${READ}
# request has type, agent_id, message, peer_id and messages.
puts JSON.generate({ type: 'ok' })
$stdout.flush
`,
  },
};
