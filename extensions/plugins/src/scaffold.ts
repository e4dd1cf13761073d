/** A new plugin: a manifest, and two hooks that answer validly with nothing but their launcher. */
import type { Launcher } from './launchers/launcher.js';
import { CACHE, MANIFEST, type PluginFolders } from './plugin-folder.js';

const PROGRAM = 0o755;
const TEXT = 0o644;

export interface Draft {
  readonly name: string;
  readonly description: string;
  readonly author: string;
  readonly launcher: Launcher;
}

export const scaffold = async (folders: PluginFolders, draft: Draft): Promise<void> => {
  const { launcher, name } = draft;
  const dir = folders.dirOf(name);
  const mode = launcher.runtime === 'native' || launcher.runtime === 'bash' ? PROGRAM : TEXT;
  await dir.write(`hooks/ingest${launcher.extension}`, launcher.scaffold.ingest, { mode });
  await dir.write(`hooks/after_turn${launcher.extension}`, launcher.scaffold.after_turn, { mode });
  if (launcher.runtime === 'python') await dir.write('requirements.txt', '');
  await dir.write(`${CACHE}/.svc`, 'What the hooks of this plugin may write to.\n');
  // Last: a folder without it is no plugin.
  await dir.write(MANIFEST, manifestText(draft));
};

const manifestText = ({ name, description, author, launcher: { runtime, extension } }: Draft): string => `name = ${JSON.stringify(name)}
version = "0.1.0"
description = ${JSON.stringify(description)}
author = ${JSON.stringify(author)}
${runtime === 'python' ? 'requirements = "requirements.txt"\n' : ''}
[hooks]
runtime = "${runtime}"
ingest = "hooks/ingest${extension}"            # before each message: what should the model know?
after_turn = "hooks/after_turn${extension}"    # behind each answer
# bootstrap = "hooks/bootstrap${extension}"
# assemble = "hooks/assemble${extension}"
# compact = "hooks/compact${extension}"
# transform_tool_result = "hooks/transform_tool_result${extension}"
# prepare_subagent = "hooks/prepare_subagent${extension}"
# merge_subagent = "hooks/merge_subagent${extension}"
# on_event = "hooks/on_event${extension}"
# hook_timeout_secs = 30
# on_hook_failure = "warn"         # or "abort": the message is not answered; or "skip"
# ingest_filter = ""               # run ingest only for messages with this text
# allow_network = false
# allow_filesystem = false
`;
