import type { Launcher } from './launcher.js';

const READ = `<?php
$request = json_decode(stream_get_contents(STDIN), true);
`;

export const php: Launcher = {
  runtime: 'php',
  aliases: [],
  programs: ['php'],
  args: [],
  versionArgs: ['--version'],
  extension: '.php',
  hint: 'Install the command line of PHP: https://www.php.net/manual/install.php',
  placeArgs: ['-r', 'echo PHP_BINARY, "\\n", dirname(PHP_BINDIR), "\\n";'],
  env: (cache) => ({ COMPOSER_HOME: `${cache}/composer`, COMPOSER_VENDOR_DIR: `${cache}/vendor` }),
  dependencies: { file: 'composer.json', program: 'composer', args: () => ['install', '--no-interaction', '--no-scripts', '--no-plugins'] },
  scaffold: {
    comment: '//',
    ingest: `${READ}
// $request has type, agent_id, message and peer_id. Each memory is shown to the model with the message.
$memories = [];
// $memories[] = ['content' => 'The person likes short answers.'];

echo json_encode(['type' => 'ingest_result', 'memories' => $memories]), "\\n";
flush();
`,
    after_turn: `${READ}
// $request has type, agent_id, message, peer_id and messages.
echo json_encode(['type' => 'ok']), "\\n";
flush();
`,
  },
};
