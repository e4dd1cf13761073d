import type { Launcher } from './launcher.js';

const program = (imports: string, body: string): string => `package main

import (
${imports}
)

func main() {
	// One JSON object on standard input.
	var request map[string]any
	_ = json.NewDecoder(os.Stdin).Decode(&request)
${body}
}
`;
const IMPORTS = '\t"encoding/json"\n\t"os"';

export const go: Launcher = {
  runtime: 'go',
  aliases: ['golang'],
  programs: ['go'],
  args: ['run'],
  versionArgs: ['version'],
  extension: '.go',
  hint: 'Install Go: https://go.dev/doc/install',
  placeArgs: ['env', 'GOROOT'],
  env: (cache) => ({ GOPATH: `${cache}/go-path`, GOCACHE: `${cache}/go-build`, GOMODCACHE: `${cache}/go-mod`, GOTOOLCHAIN: 'local', GOTELEMETRY: 'off', GOENV: 'off', GOFLAGS: '-modcacherw' }),
  compile: (script, cache) => ['build', '-o', `${cache}/compiled`, script],
  dependencies: { file: 'go.mod', program: 'go', args: () => ['mod', 'download'] },
  scaffold: {
    comment: '//',
    ingest: program(
      IMPORTS,
      `	// request has type, agent_id, message and peer_id. Each memory is shown to the model with the message.
	memories := []map[string]string{}
	_ = json.NewEncoder(os.Stdout).Encode(map[string]any{"type": "ingest_result", "memories": memories})`,
    ),
    after_turn: program(
      IMPORTS,
      `	// request has type, agent_id, message, peer_id and messages.
	_ = json.NewEncoder(os.Stdout).Encode(map[string]any{"type": "ok"})`,
    ),
  },
};
