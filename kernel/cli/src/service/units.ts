/** How this daemon is described to the service manager of the machine: a unit of systemd, an agent of launchd. */
import path from 'node:path';

export interface ServiceFacts {
  /** Absolute path of Node. */
  readonly node: string;
  /** Absolute path of svc.mjs. */
  readonly program: string;
  /** The daemon's home folder. */
  readonly home: string;
  /** Of the user. */
  readonly userHome: string;
  readonly port: string | undefined;
}

export interface ServiceUnit {
  readonly file: string;
  readonly text: string;
  /** Each is run in order, by hand where `isSystem`. */
  readonly enable: ReadonlyArray<readonly string[]>;
  readonly disable: ReadonlyArray<readonly string[]>;
  readonly status: readonly string[];
}

export const NAME = 'svc';
const LABEL = 'dev.svc.daemon';

/** Undefined on a system without one of the two. */
export const unitFor = (platform: NodeJS.Platform, facts: ServiceFacts, isSystem: boolean, user: string): ServiceUnit | undefined => {
  if (platform === 'linux') return systemdUnit(facts, isSystem, user);
  return platform === 'darwin' && !isSystem ? launchdAgent(facts) : undefined;
};

/** For a user's own manager, or for the machine's (`isSystem`), which runs it as `user`. */
const systemdUnit = (facts: ServiceFacts, isSystem: boolean, user: string): ServiceUnit => {
  const systemctl = (...args: string[]): readonly string[] => ['systemctl', ...(isSystem ? [] : ['--user']), ...args];
  const file = `${NAME}.service`;
  const variables = [`SVC_HOME=${facts.home}`, ...(facts.port === undefined ? [] : [`SVC_PORT=${facts.port}`])];
  const text = [
    '[Unit]',
    'Description=svc, a daemon that hosts agents',
    ...(isSystem ? ['After=network-online.target', 'Wants=network-online.target'] : []),
    '',
    '[Service]',
    'Type=exec',
    ...(isSystem ? [`User=${user}`] : []),
    `ExecStart=${[facts.node, facts.program, 'start', '--foreground'].map((word) => systemdWord(word.replaceAll('$', '$$$$'))).join(' ')}`,
    ...variables.map((variable) => `Environment=${systemdWord(variable)}`),
    'UMask=0077',
    'Restart=on-failure',
    'RestartSec=2',
    '# at a stop, active runs have ten seconds; unfinished ones continue at the next start',
    'TimeoutStopSec=30',
    '# each command of an agent gets its own control group, so that all its processes end with it',
    'Delegate=yes',
    '',
    '[Install]',
    `WantedBy=${isSystem ? 'multi-user.target' : 'default.target'}`,
    '',
  ].join('\n');
  return {
    file: isSystem ? path.join('/etc/systemd/system', file) : path.join(facts.userHome, '.config/systemd/user', file),
    text,
    enable: [systemctl('daemon-reload'), systemctl('enable', '--now', file)],
    disable: [systemctl('disable', '--now', file)],
    status: systemctl('is-active', file),
  };
};

/** In double quotes; `%` means something else to systemd. So does `$`, in a command alone. */
const systemdWord = (text: string): string => `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('%', '%%')}"`;

const launchdAgent = (facts: ServiceFacts): ServiceUnit => {
  const file = path.join(facts.userHome, 'Library/LaunchAgents', `${LABEL}.plist`);
  const strings = (words: readonly string[]): string => words.map((word) => `    <string>${xml(word)}</string>`).join('\n');
  const variables = { SVC_HOME: facts.home, ...(facts.port === undefined ? {} : { SVC_PORT: facts.port }) };
  const text = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${LABEL}</string>
  <key>ProgramArguments</key>
  <array>
${strings([facts.node, facts.program, 'start', '--foreground'])}
  </array>
  <key>EnvironmentVariables</key>
  <dict>
${Object.entries(variables)
  .map(([name, value]) => `    <key>${name}</key>\n    <string>${xml(value)}</string>`)
  .join('\n')}
  </dict>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ExitTimeOut</key>
  <integer>30</integer>
  <key>Umask</key>
  <integer>63</integer>
</dict>
</plist>
`;
  return { file, text, enable: [['launchctl', 'load', '-w', file]], disable: [['launchctl', 'unload', '-w', file]], status: ['launchctl', 'list', LABEL] };
};

const xml = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
