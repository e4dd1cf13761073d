import { defineErrors } from '@svc/api';

export const extensionErrors = defineErrors('extension', {
  not_found: {
    status: 404,
    retry: false,
    message: (name: string, near: string | undefined) => `There is no extension "${name}".${near ? ` Did you mean ${near}?` : ''}`,
    hint: 'svc ext list shows them all.',
  },
  change_failed: {
    status: 409,
    retry: true,
    message: (name: string, action: string, reason: string) => `${name} could not be ${action}: ${reason}`,
    hint: 'svc ext why explains the state; svc logs has the cause.',
  },
  needs_confirmation: {
    status: 409,
    retry: false,
    message: (warning: string, back: string) => `${warning} Way back: ${back}${back.endsWith('.') ? '' : '.'} Confirm to continue.`,
    hint: 'Repeat with ?confirm=true, or answer yes in svc ext. ?force=true does not wait for running work.',
  },
  bundled: {
    status: 409,
    retry: false,
    message: (name: string) => `${name} is part of svc and cannot be installed or removed separately.`,
    hint: 'svc ext disable switches it off.',
  },
  one_source: {
    status: 400,
    retry: false,
    message: () => 'Name one thing to install: `name` with a source, or `path` with an absolute path.',
    hint: 'Sources are npm:name@range, https://…tgz#sha256=…, git+https://…#ref, a path, or an id of the configured index.',
  },
});
