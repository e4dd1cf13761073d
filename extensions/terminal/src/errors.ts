import { defineErrors } from '@svc/api';

export const terminalErrors = defineErrors('terminal', {
  disabled: {
    status: 403,
    retry: false,
    message: () => 'The terminal is switched off.',
    hint: 'It gives a shell with all rights of the daemon. To switch it on, write enabled = true below [terminal] in config.toml.',
  },
  role: {
    status: 403,
    retry: false,
    message: (role: string) => `The role "${role}" may not open a terminal.`,
    hint: 'Owners may; admins too with roles = ["owner", "admin"] below [terminal] in config.toml.',
  },
  keyless: { status: 403, retry: false, message: () => 'This daemon has no key, so anybody who reaches it would have a shell.', hint: 'Set a key first: svc key new --write.' },
  origin: {
    status: 403,
    retry: false,
    message: (origin: string) => `A page of ${origin.slice(0, 200)} may not open a terminal.`,
    hint: 'Open the page of this daemon, or list the origin as allowed_origins below [terminal].',
  },
  bad_size: { status: 400, retry: false, message: () => 'cols must be a whole number from 1 to 1000, rows from 1 to 500.', hint: 'Left out, they are 120 and 40.' },
  bad_frame: { status: 400, retry: false, message: (why: string) => `The frame cannot be used: ${why}.`, hint: 'Frames are JSON: input, resize, switch_window, unlock, close.' },
  locked: { status: 403, retry: false, message: () => 'A code from your authenticator comes first.', hint: 'Send {"type":"unlock","code":"…"}.' },
  idle: {
    status: 408,
    retry: false,
    message: (minutes: number) => `Nothing was typed for ${minutes} minutes, so this terminal ended.`,
    hint: 'Open another one. idle_minutes below [terminal] says how long one stays; a window of tmux stays longer.',
  },
  no_tmux: { status: 503, retry: false, message: (why: string) => `There are no windows that stay: ${why}.`, hint: 'Install tmux 3.2 or newer. A terminal without a window needs none.' },
  window_limit_reached: { status: 429, retry: false, message: (max: number) => `You have ${max} windows, which is the limit.`, hint: 'Close one, or raise max_windows below [terminal].' },
  window_not_found: { status: 404, retry: false, message: (id: string) => `There is no window ${id.slice(0, 20)}.`, hint: 'GET /api/terminal/windows lists yours.' },
});
